// Sums over the distances of many searches without storing distances: every level adds what it has found.
//
// The levels and the layout of the words are those of bfs_batch.cu; these kernels replace its batch_settle.
// Sums are kept for each vertex over the searches, or for each search over the vertices.
//
// Invariants: each pair of a search and a vertex is found on exactly one level, and level 0, that of the
// sources, adds nothing; one thread processes a vertex; `found` is zero before a level, and is cleared after
// it has been added.
//
// Reference: M. Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, PVLDB 8(4), 2014,
// section 4.3 (closeness centrality from the bits that are new on each level).
//
// Must agree with: rapids_trav/engines/cpu/bfs/distance_sums.py.
#include "batch_words.cuh"

#ifndef MOST_WORDS
#define MOST_WORDS 4  // most words of a batch
#endif

// reached, total, inverse and largest of one vertex or one search; see `DistanceSums`.
__device__ __forceinline__ void add_level(i64 place, i64 found, i32 level, i64* reached, i64* total,
                                          double* inverse, i32* largest) {
    if (found == 0 || level == 0) return;
    reached[place] += found;
    total[place] += found * level;
    inverse[place] += static_cast<double>(found) / level;
    largest[place] = max(largest[place], level);
}

struct SettleArguments {
    const edge_t* out_offsets;
    i64 n_vertices;
    i64 n_words;
    const u64* wanted;
    i32 level;
    u64* frontier;
    u64* visited;
    u64* next;
    i64* reached;
    i64* total;
    double* inverse;
    i32* largest;
    u64* counters;
};

extern "C" __global__ void settle_vertices(const SettleArguments given) {
    const edge_t* __restrict__ const out_offsets = given.out_offsets;
    const u64* __restrict__ const wanted = given.wanted;
    const i64 n_words = given.n_words;
    Settled settled;
    for (i64 v = global_thread(); v < given.n_vertices; v += global_threads()) {
        const vertex_t vertex = static_cast<vertex_t>(v);
        i64 found = 0;
        for (i64 word = 0; word < n_words; ++word) {
            const i64 i = v * n_words + word;
            found += __popcll(settle_word(out_offsets, vertex, i, wanted[word], given.frontier, given.visited,
                                          given.next, settled));
        }
        add_level(v, found, given.level, given.reached, given.total, given.inverse, given.largest);
    }
    count_settled(given.counters, settled);
}

// Adds the number of vertices that each search has found to `found`.
extern "C" __global__ void settle_sources(const edge_t* __restrict__ out_offsets, i64 n_vertices, i64 n_words,
                                          const u64* __restrict__ wanted, i32 level, u64* frontier,
                                          u64* visited, u64* next, u64* found, u64* counters) {
    __shared__ u32 of_block[MOST_WORDS * WORD];
    for (i64 k = threadIdx.x; k < n_words * WORD; k += blockDim.x) of_block[k] = 0;
    __syncthreads();
    Settled settled;
    for (i64 base = global_thread() - lane_id(); base < n_vertices; base += global_threads()) {
        const i64 v = base + lane_id();
        const vertex_t vertex = static_cast<vertex_t>(v);
        for (i64 word = 0; word < n_words; ++word) {
            u64 reached = 0;
            if (v < n_vertices) {
                const i64 i = v * n_words + word;
                reached = settle_word(out_offsets, vertex, i, wanted[word], frontier, visited, next, settled);
            }
            for (u64 bits = warp_or(reached); bits != 0; bits &= bits - 1) {
                const i32 bit = __ffsll(static_cast<i64>(bits)) - 1;
                const u32 lanes = __ballot_sync(FULL_WARP, reached >> bit & 1);
                if (lane_id() == bit % WARP)
                    atomicAdd(&of_block[word * WORD + bit], static_cast<u32>(__popc(lanes)));
            }
        }
    }
    __syncthreads();
    for (i64 k = threadIdx.x; k < n_words * WORD; k += blockDim.x) {
        if (of_block[k] != 0) atomicAdd(&found[k], static_cast<u64>(of_block[k]));
    }
    count_settled(counters, settled);
}

// Adds a level to the sums of each search, and clears `found`.
extern "C" __global__ void add_level_of_sources(i64 n_sources, i32 level, u64* found, i64* reached,
                                                i64* total, double* inverse, i32* largest) {
    for (i64 k = global_thread(); k < n_sources; k += global_threads()) {
        add_level(k, static_cast<i64>(found[k]), level, reached, total, inverse, largest);
        found[k] = 0;
    }
}
