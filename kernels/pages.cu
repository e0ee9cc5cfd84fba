// Counts, for each page, the rows that gather and their edges, so that the host knows which pages to copy.
//
// Page i holds the rows firsts[i] to firsts[i + 1] - 1; a row gathers if it is marked.  The blocks that have
// the same blockIdx.y count one page at a time.
//
// Invariant: `counts`, with two words for each page, are 0 before.
//
// Reference: L. Ma et al., Garaph, USENIX ATC 2017 (pages, notify-pull).
//
// Must agree with: count_pages in tests/kernel_references.py.
#include "level.cuh"

extern "C" __global__ void count_pages(const edge_t* __restrict__ row_offsets, const i64* __restrict__ firsts,
                                       i64 n_pages, const u8* __restrict__ marks, u64* counts) {
    for (i64 page = blockIdx.y; page < n_pages; page += gridDim.y) {
        i64 rows = 0;
        i64 edges = 0;
        for (i64 v = firsts[page] + global_thread(); v < firsts[page + 1]; v += global_threads()) {
            if (marks[v] == 0) continue;
            rows += 1;
            edges += degree(row_offsets, static_cast<vertex_t>(v));
        }
        __syncwarp();
        count(counts + 2 * page, 0, rows);
        count(counts + 2 * page, 1, edges);
    }
}
