// P6: direction-optimising BFS, one launch for each step; the host chooses the directions (policy.py).
//
// Top-down steps expand a queue.  It is split by row length, so that neither a warp nor a block waits for one
// thread: short rows stand at the front of the buffer and a block deals their edges out evenly to its threads
// (push_light); long rows stand at the back and are each spread over a column of blocks (push_heavy).
// Bottom-up steps scan the unreached vertices for a parent in a bitmap of the frontier (pull_step).
// queue_to_bitmap, bitmap_to_queue and enqueue change from one form to the other.
//
// Invariants: a vertex enters a queue once, by whoever claimed it, so front and back never meet in a buffer
// of n_vertices; LIGHT and HEAVY are the lengths of the two parts.  A bitmap has a bit for each vertex, 32 to
// the word, low bit first; pull_step writes every word of the next bitmap, so it needs no clearing.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012, and
// the GAP Benchmark Suite, arXiv:1508.03619; D. Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph
// Traversal, PPoPP 2012 (dealing out edges by a prefix sum).  The plain kernels are those of bfs_push.cu and
// bfs_pull.cu.
#include "block_sum.cuh"
#include "rows.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef HEAVY_DEGREE
#define HEAVY_DEGREE 8192  // from this out-degree on, a row is heavy
#endif

constexpr i32 WARPS = BLOCK_SIZE / WARP;

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

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ frontier, i64 n_light, i32 level, i32* distance,
               vertex_t* predecessor, vertex_t* next, u64* counters) {
    __shared__ vertex_t vertices[BLOCK_SIZE];
    __shared__ i64 row_begin[BLOCK_SIZE];
    __shared__ i32 ends[BLOCK_SIZE];  // where each vertex's edges end among those of the tile
    __shared__ i32 warp_totals[WARPS];
    const i32 thread = static_cast<i32>(threadIdx.x);
    i64 examined = 0;
    i64 scout = 0;
    for (i64 tile = static_cast<i64>(blockIdx.x) * BLOCK_SIZE; tile < n_light; tile += global_threads()) {
        i32 edges = 0;
        if (tile + thread < n_light) {
            const vertex_t u = frontier[tile + thread];
            vertices[thread] = u;
            row_begin[thread] = row_offsets[u];
            edges = static_cast<i32>(degree(row_offsets, u));
        }
        ends[thread] = block_inclusive_sum(edges, warp_totals);
        __syncthreads();
        const i32 tile_edges = ends[BLOCK_SIZE - 1];
        for (i32 edge = thread; edge < tile_edges; edge += BLOCK_SIZE) {
            const i64 owner = lower_bound(ends, BLOCK_SIZE, edge + 1);
            const i32 owner_begin = owner > 0 ? ends[owner - 1] : 0;
            const vertex_t neighbor = column_indices[row_begin[owner] + (edge - owner_begin)];
            examined += 1;
            if (!claim(distance, neighbor, level)) continue;
            if (predecessor != nullptr) predecessor[neighbor] = vertices[owner];
            append(row_offsets, neighbor, next, n_vertices, counters, scout);
        }
        __syncthreads();
    }
    count(counters, EDGES, examined);
    count(counters, SCOUT, scout);
}

// Heavy rows i, i + gridDim.x, ... each belong to the gridDim.y blocks of one column.
extern "C" __global__ void push_heavy(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                      const vertex_t* __restrict__ frontier, i64 n_heavy, i32 level,
                                      i32* distance, vertex_t* predecessor, vertex_t* next, u64* counters) {
    const i64 first = static_cast<i64>(blockIdx.y) * blockDim.x + threadIdx.x;
    const i64 stride = static_cast<i64>(gridDim.y) * blockDim.x;
    i64 examined = 0;
    i64 scout = 0;
    for (i64 i = blockIdx.x; i < n_heavy; i += gridDim.x) {
        const vertex_t u = frontier[n_vertices - 1 - i];
        const i64 end = row_offsets[u + 1];
        for (i64 edge = row_offsets[u] + first; edge < end; edge += stride) {
            const vertex_t neighbor = column_indices[edge];
            examined += 1;
            if (!claim(distance, neighbor, level)) continue;
            if (predecessor != nullptr) predecessor[neighbor] = u;
            append(row_offsets, neighbor, next, n_vertices, counters, scout);
        }
    }
    count(counters, EDGES, examined);
    count(counters, SCOUT, scout);
}

// `row_offsets` are those of the in-edges, `out_offsets` those of the out-edges.
extern "C" __global__ void pull_step(const edge_t* __restrict__ row_offsets,
                                     const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                     const u32* __restrict__ frontier, i32 level, i32* distance,
                                     vertex_t* predecessor, u32* next, const edge_t* __restrict__ out_offsets,
                                     u64* counters) {
    i64 found = 0;
    i64 examined = 0;
    i64 scout = 0;
    for (i64 base = global_thread() - lane_id(); base < n_vertices; base += global_threads()) {
        const i64 v = base + lane_id();
        const bool unreached = v < n_vertices && distance[v] == UNREACHED;
        const i64 begin = unreached ? row_offsets[v] : 0;
        const i64 end = unreached ? row_offsets[v + 1] : 0;
        const vertex_t parent = first_match(
            column_indices, begin, end, 0,
            [frontier](vertex_t u, i32) { return (frontier[u / WARP] >> (u % WARP) & 1u) != 0; }, examined);
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

// `bitmap` is zero before.
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
