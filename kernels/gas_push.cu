// Steps along the out-edges of active vertices, which push messages or notify the vertices that must gather.
//
// - push_*: messages are reduced directly into the values by an atomic, which only min and max allow; the
//   first thread that changes a value claims the vertex for the next queue.  Messages do not change during
//   the step, so it is synchronous.
// - notify_*: marks the vertices that must gather.
//
// along.cuh distributes the edges over the threads.
//
// Invariants: a vertex enters a queue once, by the thread that set its bit in `claimed`; LIGHT and HEAVY of
// `sizes` are the lengths of the queue's two parts, and those of `counters` the lengths of the next queue's.
//
// Reference: L. Ma et al., Garaph, USENIX ATC 2017 (notify; docs/systems.md, G13).
//
// Must agree with: push_plain, which has a thread for each active vertex.
#include "along.cuh"
#include "gas_queue.cuh"
#include "gas_reduce.cuh"

// Pushes over one edge.  The plain read, which may be slightly stale, saves most edges the atomic.
struct Push {
    using carried_t = value_t;

    const value_t* messages;
    const weight_t* weights;
    const edge_t* out_offsets;
    i64 n_vertices;
    value_t* values;
    u32* claimed;
    vertex_t* next;
    u64* counters;

    __device__ __forceinline__ value_t carry(vertex_t u) const { return messages[u]; }

    __device__ __forceinline__ void over(value_t message, i64 edge, vertex_t v) const {
        const value_t value = gather(message, weight_of(weights, edge));
        if (!better(value, values[v]) || !better(value, atomic_reduce(&values[v], value))) return;
        const u32 bit = 1u << (v % WARP);
        if ((atomicOr(&claimed[v / WARP], bit) & bit) == 0)
            append(out_offsets, v, n_vertices, next, counters);
    }
};

struct Notify {
    using carried_t = u8;  // unused

    u8* marks;

    __device__ __forceinline__ u8 carry(vertex_t) const { return 0; }

    __device__ __forceinline__ void over(u8, i64, vertex_t v) const {
        if (marks[v] == 0) marks[v] = 1;
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    notify_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
                 i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes, u8* marks,
                 u64* counters) {
    Notify step{marks};
    along_light(row_offsets, column_indices, queue, static_cast<i64>(sizes[LIGHT]), step, counters);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    notify_heavy(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
                 i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes, u8* marks,
                 u64* counters) {
    Notify step{marks};
    const i64 n_heavy = static_cast<i64>(sizes[HEAVY]);
    along_heavy(row_offsets, column_indices, n_vertices, queue, n_heavy, step, counters);
}

#if REDUCER != 2
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes,
               const weight_t* __restrict__ weights, const value_t* __restrict__ messages, value_t* values,
               u32* claimed, vertex_t* next, u64* counters) {
    Push step{messages, weights, row_offsets, n_vertices, values, claimed, next, counters};
    along_light(row_offsets, column_indices, queue, static_cast<i64>(sizes[LIGHT]), step, counters);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    push_heavy(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ column_indices,
               i64 n_vertices, const vertex_t* __restrict__ queue, const u64* __restrict__ sizes,
               const weight_t* __restrict__ weights, const value_t* __restrict__ messages, value_t* values,
               u32* claimed, vertex_t* next, u64* counters) {
    Push step{messages, weights, row_offsets, n_vertices, values, claimed, next, counters};
    const i64 n_heavy = static_cast<i64>(sizes[HEAVY]);
    along_heavy(row_offsets, column_indices, n_vertices, queue, n_heavy, step, counters);
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
