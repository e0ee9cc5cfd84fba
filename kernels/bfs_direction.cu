// Direction-optimising BFS with one launch for each step; the host chooses the directions
// (rapids_trav/published/pmpp/policy.py; docs/systems.md, P6).
//
// - Top-down steps expand a queue (along.cuh).  It is split by row length, so that neither a warp nor a block
//   waits for one thread: short rows are at the front of the buffer (push_light), long rows at the back
//   (push_heavy).
// - Bottom-up steps scan the unreached vertices for a parent in a bitmap of the frontier (pull_step).
//   Without BITMAPS they look up the parent's distance instead, to measure what the smaller bitmap saves.
// - queue_to_bitmap, bitmap_to_queue and enqueue convert between the two forms of the frontier.
//
// Invariants: a vertex enters a queue once, by the thread that claimed it, so front and back never meet in a
// buffer of n_vertices; LIGHT and HEAVY are the lengths of the two parts.  A bitmap has a bit for each
// vertex, 32 in a word, low bit first; pull_step writes every word of the next bitmap, so it needs no
// clearing.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012, and
// the GAP Benchmark Suite, arXiv:1508.03619.
//
// Must agree with: bfs_push.cu and bfs_pull.cu.
#include "along.cuh"

#ifndef HEAVY_DEGREE
#define HEAVY_DEGREE 8192  // from this out-degree on, a row is heavy
#endif

#ifndef BITMAPS
#define BITMAPS 1  // 0: pull_step recognises the frontier by its distances
#endif

__device__ __forceinline__ void append(const edge_t* row_offsets, vertex_t vertex, vertex_t* queue,
                                       i64 n_vertices, u64* counters, i64& scout) {
    const i64 edges = degree(row_offsets, vertex);
    scout += edges;
    if (edges < HEAVY_DEGREE) {
        queue[next_place(counters, LIGHT)] = vertex;
    } else {
        queue[n_vertices - 1 - next_place(counters, HEAVY)] = vertex;
    }
}

extern "C" __global__ void enqueue(const edge_t* __restrict__ row_offsets, i64 n_vertices,
                                   const vertex_t* __restrict__ vertices, i64 size, vertex_t* queue,
                                   u64* counters) {
    i64 scout = 0;
    for (i64 i = global_thread(); i < size; i += global_threads()) {
        append(row_offsets, vertices[i], queue, n_vertices, counters, scout);
    }
    count(counters, SCOUT, scout);
}

struct Push {
    using carried_t = vertex_t;

    const edge_t* row_offsets;
    i64 n_vertices;
    i32 level;
    i32* distance;
    vertex_t* predecessor;
    vertex_t* next;
    u64* counters;
    i64 scout = 0;

    __device__ __forceinline__ vertex_t carry(vertex_t u) const { return u; }

    __device__ __forceinline__ void over(vertex_t u, i64, vertex_t v) {
        if (!claim(distance, v, level)) return;
        if (predecessor != nullptr) predecessor[v] = u;
        append(row_offsets, v, next, n_vertices, counters, scout);
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ frontier, i64 n_light, i32 level, i32* distance,
               vertex_t* predecessor, vertex_t* next, u64* counters) {
    Push step{row_offsets, n_vertices, level, distance, predecessor, next, counters};
    along_light(row_offsets, column_indices, frontier, n_light, step, counters);
    count(counters, SCOUT, step.scout);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_heavy(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ frontier, i64 n_heavy, i32 level, i32* distance,
               vertex_t* predecessor, vertex_t* next, u64* counters) {
    Push step{row_offsets, n_vertices, level, distance, predecessor, next, counters};
    along_heavy(row_offsets, column_indices, n_vertices, frontier, n_heavy, step, counters);
    count(counters, SCOUT, step.scout);
}

// `row_offsets` are those of the in-edges, `out_offsets` those of the out-edges; rows from `n_linked` on are
// empty and are not read.
extern "C" __global__ void pull_step(const edge_t* __restrict__ row_offsets,
                                     const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                     i64 n_linked, const u32* __restrict__ frontier, i32 level, i32* distance,
                                     vertex_t* predecessor, u32* next, const edge_t* __restrict__ out_offsets,
                                     u64* counters) {
    i64 found = 0;
    i64 examined = 0;
    i64 scout = 0;
    for (i64 base = global_thread() - lane_id(); base < n_vertices; base += global_threads()) {
        const i64 v = base + lane_id();
        const bool unreached = v < n_linked && distance[v] == UNREACHED;
        const i64 begin = unreached ? row_offsets[v] : 0;
        const i64 end = unreached ? row_offsets[v + 1] : 0;
        const auto in_frontier = [=](vertex_t u, i32) {
#if BITMAPS
            return (frontier[u / WARP] >> (u % WARP) & 1u) != 0;
#else
            return distance[u] == level - 1;
#endif
        };
        const vertex_t parent = first_match(column_indices, begin, end, 0, in_frontier, examined);
        const u32 reached = __ballot_sync(FULL_WARP, parent != NONE);
        if (lane_id() == 0) next[base / WARP] = reached;
        if (parent == NONE) continue;
        distance[v] = level;
        if (predecessor != nullptr) predecessor[v] = parent;
        found += 1;
        scout += degree(out_offsets, static_cast<vertex_t>(v));
    }
    count(counters, FOUND, found);
    count(counters, EDGES, examined);
    count(counters, SCOUT, scout);
}

// Before the call, `bitmap` is zero.
extern "C" __global__ void queue_to_bitmap(const vertex_t* __restrict__ queue, i64 n_vertices, i64 n_light,
                                           i64 n_heavy, u32* bitmap) {
    for (i64 i = global_thread(); i < n_light + n_heavy; i += global_threads()) {
        const vertex_t v = i < n_light ? queue[i] : queue[n_vertices - 1 - (i - n_light)];
        atomicOr(&bitmap[v / WARP], 1u << (v % WARP));
    }
}

extern "C" __global__ void bitmap_to_queue(const edge_t* __restrict__ row_offsets, i64 n_vertices,
                                           const u32* __restrict__ bitmap, vertex_t* queue, u64* counters) {
    i64 scout = 0;
    for (i64 word = global_thread(); word * WARP < n_vertices; word += global_threads()) {
        for (u32 bits = bitmap[word]; bits != 0; bits &= bits - 1) {
            const i64 v = word * WARP + __ffs(static_cast<i32>(bits)) - 1;
            append(row_offsets, static_cast<vertex_t>(v), queue, n_vertices, counters, scout);
        }
    }
    count(counters, SCOUT, scout);
}
