// Active vertices reach out along their out-edges: they push their messages, or notify those who gather.
//
// A block deals the edges of its tile of light rows out evenly to its threads; heavy rows are each spread
// over a column of blocks.  push_*: what arrives is reduced into the values themselves by an atomic, which
// only min and max allow; whoever changes a value first claims the vertex for the next queue.  Messages do
// not change meanwhile, so the step is synchronous.  notify_*: marks those that are to gather.
//
// Invariants: a vertex enters a queue once, by whoever set its bit in `claimed`; LIGHT and HEAVY of `sizes`
// are the lengths of the queue's parts, those of `counters` of the next one's.
//
// Reference: L. Ma et al., Garaph, USENIX ATC 2017 (notify); D. Merrill, M. Garland, A. Grimshaw, Scalable
// GPU Graph Traversal, PPoPP 2012 (dealing out edges).  push_plain is the plain kernel: a thread for each
// active vertex.
#include "block_sum.cuh"
#include "gas_queue.cuh"
#include "gas_reduce.cuh"
#include "rows.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif

constexpr i32 WARPS = BLOCK_SIZE / WARP;

// Pushes over one edge.  The plain read, which may be a little old, spares most edges the atomic.
struct Push {
    const value_t* messages;
    const weight_t* weights;
    const edge_t* out_offsets;
    i64 n_vertices;
    value_t* values;
    u32* claimed;
    vertex_t* next;
    u64* counters;

    __device__ __forceinline__ value_t message(vertex_t u) const { return messages[u]; }

    __device__ __forceinline__ void over(value_t message, i64 edge, vertex_t v) const {
        const value_t value = gather(message, weight_of(weights, edge));
        if (!better(value, values[v]) || !better(value, atomic_reduce(&values[v], value))) return;
        const u32 bit = 1u << (v % WARP);
        if ((atomicOr(&claimed[v / WARP], bit) & bit) == 0)
            append(out_offsets, v, n_vertices, next, counters);
    }
};

struct Notify {
    u8* marks;

    __device__ __forceinline__ value_t message(vertex_t) const { return 0; }

    __device__ __forceinline__ void over(value_t, i64, vertex_t v) const {
        if (marks[v] == 0) marks[v] = 1;
    }
};

template <class Step>
__device__ __forceinline__ void along_light(const edge_t* row_offsets, const vertex_t* column_indices,
                                            const vertex_t* queue, const u64* sizes, const Step& step,
                                            u64* counters) {
    __shared__ value_t messages[BLOCK_SIZE];
    __shared__ i64 row_begin[BLOCK_SIZE];
    __shared__ i32 ends[BLOCK_SIZE];  // where each vertex's edges end among those of the tile
    __shared__ i32 warp_totals[WARPS];
    const i32 thread = static_cast<i32>(threadIdx.x);
    const i64 n_light = static_cast<i64>(sizes[LIGHT]);
    i64 examined = 0;
    for (i64 tile = static_cast<i64>(blockIdx.x) * BLOCK_SIZE; tile < n_light; tile += global_threads()) {
        i32 edges = 0;
        if (tile + thread < n_light) {
            const vertex_t u = queue[tile + thread];
            messages[thread] = step.message(u);
            row_begin[thread] = row_offsets[u];
            edges = static_cast<i32>(degree(row_offsets, u));
        }
        ends[thread] = block_inclusive_sum(edges, warp_totals);
        __syncthreads();
        const i32 tile_edges = ends[BLOCK_SIZE - 1];
        for (i32 i = thread; i < tile_edges; i += BLOCK_SIZE) {
            const i64 owner = lower_bound(ends, BLOCK_SIZE, i + 1);
            const i64 edge = row_begin[owner] + (i - (owner > 0 ? ends[owner - 1] : 0));
            step.over(messages[owner], edge, column_indices[edge]);
            examined += 1;
        }
        __syncthreads();
    }
    __syncwarp();
    count(counters, EDGES, examined);
}

// Heavy rows i, i + gridDim.x, ... each belong to the gridDim.y blocks of one column.
template <class Step>
__device__ __forceinline__ void along_heavy(const edge_t* row_offsets, const vertex_t* column_indices,
                                            i64 n_vertices, const vertex_t* queue, const u64* sizes,
                                            const Step& step, u64* counters) {
    const i64 first = static_cast<i64>(blockIdx.y) * blockDim.x + threadIdx.x;
    const i64 stride = static_cast<i64>(gridDim.y) * blockDim.x;
    i64 examined = 0;
    for (i64 i = blockIdx.x; i < static_cast<i64>(sizes[HEAVY]); i += gridDim.x) {
        const vertex_t u = queue[n_vertices - 1 - i];
        const value_t message = step.message(u);
        const i64 end = row_offsets[u + 1];
        for (i64 edge = row_offsets[u] + first; edge < end; edge += stride) {
            step.over(message, edge, column_indices[edge]);
            examined += 1;
        }
    }
    __syncwarp();
    count(counters, EDGES, examined);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    notify_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
                 i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes, u8* marks,
                 u64* counters) {
    along_light(row_offsets, column_indices, queue, sizes, Notify{marks}, counters);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    notify_heavy(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
                 i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes, u8* marks,
                 u64* counters) {
    along_heavy(row_offsets, column_indices, n_vertices, queue, sizes, Notify{marks}, counters);
}

#if REDUCER != 2
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes,
               const weight_t* __restrict__ weights, const value_t* __restrict__ messages, value_t* values,
               u32* claimed, vertex_t* next, u64* counters) {
    const Push step{messages, weights, row_offsets, n_vertices, values, claimed, next, counters};
    along_light(row_offsets, column_indices, queue, sizes, step, counters);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_heavy(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes,
               const weight_t* __restrict__ weights, const value_t* __restrict__ messages, value_t* values,
               u32* claimed, vertex_t* next, u64* counters) {
    const Push step{messages, weights, row_offsets, n_vertices, values, claimed, next, counters};
    along_heavy(row_offsets, column_indices, n_vertices, queue, sizes, step, counters);
}

extern "C" __global__ void push_plain(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                      const vertex_t* __restrict__ queue, const u64* __restrict__ sizes,
                                      const weight_t* __restrict__ weights,
                                      const value_t* __restrict__ messages, value_t* values, u32* claimed,
                                      vertex_t* next, u64* counters) {
    const Push step{messages, weights, row_offsets, n_vertices, values, claimed, next, counters};
    const i64 n_queued = static_cast<i64>(sizes[LIGHT] + sizes[HEAVY]);
    i64 examined = 0;
    for (i64 i = global_thread(); i < n_queued; i += global_threads()) {
        const vertex_t u = queued(queue, n_vertices, sizes, i);
        for (i64 edge = row_offsets[u]; edge < row_offsets[u + 1]; ++edge) {
            step.over(messages[u], edge, column_indices[edge]);
            examined += 1;
        }
    }
    __syncwarp();
    count(counters, EDGES, examined);
}
#endif
