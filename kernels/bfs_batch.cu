// Many independent searches at once: one bit for each source, 64 sources in a word.
//
// frontier[v], next[v] and visited[v] are `n_words` words each; bit b of word w belongs to the search from
// source 64 w + b.  Searches that reach the same vertex on the same level share the read of its row.
//
// 1. A step, push or pull, finds the next level.  The thread that first sets a bit writes the predecessor.
//    Each step has two kernels: one for light rows, with a thread for each, and one for a list of heavy rows,
//    with gridDim.y blocks for each.
// 2. batch_settle moves `next` into `frontier`, writes the distances and counts what was found.
//
// Invariants: `visited` changes only in batch_settle; a step writes only `next`, which is zero before it, and
// a set bit of `next` is never set in `visited`, so each (source, vertex) pair is found once.  `distance` and
// `predecessor` have a row of n_vertices for each source.
//
// Reference: M. Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, PVLDB 8(4), 2014;
// H. Liu, H. Huang, Y. Hu, iBFS: Concurrent Breadth-First Search on GPUs, SIGMOD 2016.
//
// Must agree with: bfs_push.cu, source by source.
#include "batch_words.cuh"

#ifndef HEAVY_DEGREE
#define HEAVY_DEGREE 256  // from this degree on, a row belongs to the kernels for heavy rows
#endif

__device__ __forceinline__ void write_predecessors(vertex_t* predecessor, i64 n_vertices, i64 word, u64 bits,
                                                   vertex_t vertex, vertex_t parent) {
    if (predecessor == nullptr) return;
    for (; bits != 0; bits &= bits - 1) {
        const i64 source = word * WORD + __ffsll(static_cast<i64>(bits)) - 1;
        predecessor[source * n_vertices + vertex] = parent;
    }
}

extern "C" __global__ void batch_seed(const vertex_t* __restrict__ sources, i64 n_sources, i64 n_words,
                                      u64* next) {
    for (i64 i = global_thread(); i < n_sources; i += global_threads()) {
        atomicOr(&next[sources[i] * n_words + i / WORD], 1ull << (i % WORD));
    }
}

__device__ __forceinline__ void push_edge(i64 n_vertices, i64 n_words, i64 word, u64 searches, vertex_t u,
                                          vertex_t neighbor, const u64* visited, u64* next,
                                          vertex_t* predecessor) {
    const i64 place = neighbor * n_words + word;
    const u64 reached = searches & ~visited[place];
    if (reached == 0) return;
    const u64 earlier = atomicOr(&next[place], reached);
    write_predecessors(predecessor, n_vertices, word, reached & ~earlier, neighbor, u);
}

extern "C" __global__ void batch_push(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                      i64 n_words, const u64* __restrict__ frontier,
                                      const u64* __restrict__ visited, u64* next, vertex_t* predecessor,
                                      u64* counters) {
    i64 examined = 0;
    for (i64 i = global_thread(); i < n_vertices * n_words; i += global_threads()) {
        const u64 searches = frontier[i];
        if (searches == 0) continue;
        const vertex_t u = static_cast<vertex_t>(i / n_words);
        const i64 begin = row_offsets[u];
        const i64 end = row_offsets[u + 1];
        if (end - begin >= HEAVY_DEGREE) continue;
        examined += end - begin;
        for (i64 edge = begin; edge < end; ++edge) {
            push_edge(n_vertices, n_words, i % n_words, searches, u, column_indices[edge], visited, next,
                      predecessor);
        }
    }
    count(counters, EDGES, examined);
}

extern "C" __global__ void batch_push_heavy(const edge_t* __restrict__ row_offsets,
                                            const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                            i64 n_words, const vertex_t* __restrict__ heavy, i64 n_heavy,
                                            const u64* __restrict__ frontier, const u64* __restrict__ visited,
                                            u64* next, vertex_t* predecessor, u64* counters) {
    const i64 first = static_cast<i64>(blockIdx.y) * blockDim.x + threadIdx.x;
    const i64 stride = static_cast<i64>(gridDim.y) * blockDim.x;
    i64 examined = 0;
    for (i64 i = blockIdx.x; i < n_heavy * n_words; i += gridDim.x) {
        const vertex_t u = heavy[i / n_words];
        const i64 word = i % n_words;
        const u64 searches = frontier[u * n_words + word];
        const i64 end = searches != 0 ? row_offsets[u + 1] : 0;
        for (i64 edge = row_offsets[u] + first; edge < end; edge += stride) {
            examined += 1;
            push_edge(n_vertices, n_words, word, searches, u, column_indices[edge], visited, next,
                      predecessor);
        }
    }
    count(counters, EDGES, examined);
}

// `row_offsets` are those of the in-edges; `wanted` has a bit for each source.
extern "C" __global__ void batch_pull(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                      i64 n_words, const u64* __restrict__ wanted,
                                      const u64* __restrict__ frontier, const u64* __restrict__ visited,
                                      u64* next, vertex_t* predecessor, u64* counters) {
    i64 examined = 0;
    for (i64 i = global_thread(); i < n_vertices * n_words; i += global_threads()) {
        const i64 word = i % n_words;
        const u64 missing = wanted[word] & ~visited[i];
        if (missing == 0) continue;
        const vertex_t v = static_cast<vertex_t>(i / n_words);
        const i64 begin = row_offsets[v];
        const i64 end = row_offsets[v + 1];
        if (end - begin >= HEAVY_DEGREE) continue;
        u64 reached = 0;
        for (i64 edge = begin; edge < end && reached != missing; ++edge) {
            const vertex_t neighbor = column_indices[edge];
            const u64 fresh = frontier[neighbor * n_words + word] & missing & ~reached;
            examined += 1;
            reached |= fresh;
            write_predecessors(predecessor, n_vertices, word, fresh, v, neighbor);
        }
        if (reached != 0) next[i] = reached;
    }
    count(counters, EDGES, examined);
}

struct PullHeavyArguments {
    const edge_t* row_offsets;
    const vertex_t* column_indices;
    i64 n_vertices;
    i64 n_words;
    const vertex_t* heavy;
    i64 n_heavy;
    const u64* wanted;
    const u64* frontier;
    const u64* visited;
    u64* next;
    vertex_t* predecessor;
    u64* counters;
};

extern "C" __global__ void batch_pull_heavy(const PullHeavyArguments given) {
    const edge_t* __restrict__ const row_offsets = given.row_offsets;
    const vertex_t* __restrict__ const column_indices = given.column_indices;
    const vertex_t* __restrict__ const heavy = given.heavy;
    const u64* __restrict__ const wanted = given.wanted;
    const u64* __restrict__ const frontier = given.frontier;
    const u64* __restrict__ const visited = given.visited;
    u64* const next = given.next;
    const i64 n_words = given.n_words;
    const i64 first = static_cast<i64>(blockIdx.y) * blockDim.x + threadIdx.x;
    const i64 stride = static_cast<i64>(gridDim.y) * blockDim.x;
    i64 examined = 0;
    for (i64 i = blockIdx.x; i < given.n_heavy * n_words; i += gridDim.x) {
        const vertex_t v = heavy[i / n_words];
        const i64 word = i % n_words;
        const u64 missing = wanted[word] & ~visited[v * n_words + word];
        volatile u64* reached = &next[v * n_words + word];  // other threads of the row set bits concurrently
        const i64 end = missing != 0 ? row_offsets[v + 1] : 0;
        for (i64 edge = row_offsets[v] + first; edge < end; edge += stride) {
            const u64 open = missing & ~*reached;
            if (open == 0) break;
            const vertex_t neighbor = column_indices[edge];
            const u64 fresh = frontier[neighbor * n_words + word] & open;
            examined += 1;
            if (fresh == 0) continue;
            const u64 earlier = atomicOr(&next[v * n_words + word], fresh);
            write_predecessors(given.predecessor, given.n_vertices, word, fresh & ~earlier, v, neighbor);
        }
    }
    count(given.counters, EDGES, examined);
}

// Ends a level; with level 0 and the sources in `next`, begins a search.
extern "C" __global__ void batch_settle(const edge_t* __restrict__ out_offsets, i64 n_vertices, i64 n_words,
                                        const u64* __restrict__ wanted, i32 level, u64* frontier,
                                        u64* visited, u64* next, i32* distance, u64* counters) {
    const i64 size = n_vertices * n_words;
    Settled settled;
    for (i64 base = global_thread() - lane_id(); base < size; base += global_threads()) {
        const i64 i = base + lane_id();
        const vertex_t v = static_cast<vertex_t>(i / n_words);
        const i64 word = i % n_words;
        u64 reached = 0;
        if (i < size) {
            reached = settle_word(out_offsets, v, i, wanted[word], frontier, visited, next, settled);
        }
        // The lanes process the same bit at a time, so that their writes to a row of distance are coalesced.
        for (u64 bits = warp_or(reached); bits != 0; bits &= bits - 1) {
            const i32 bit = __ffsll(static_cast<i64>(bits)) - 1;
            if (reached >> bit & 1) distance[(word * WORD + bit) * n_vertices + v] = level;
        }
    }
    count_settled(counters, settled);
}
