// BFS from a queue of the frontier, one thread for each vertex in it (CSR; docs/systems.md, P4 and P5).
//
// A thread claims each unreached neighbour with an atomic compare-and-swap; only the winner writes the
// predecessor and appends the neighbour to the next queue, which therefore holds no vertex twice and never
// more than n_vertices.  bfs_frontier appends directly to the global queue.  bfs_private collects a block's
// vertices in shared memory and copies them out together, with one atomic on the global counter for each
// block; vertices that do not fit into shared memory go directly to the global queue.
//
// Invariant: after the launch, counters[FOUND] is the length of `next`.
//
// Reference: W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition,
// sections 15.5 and 15.6; L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search,
// DAC 2010.
//
// Must agree with: bfs_push.cu.
#include "level.cuh"

#ifndef PRIVATE_CAPACITY
#define PRIVATE_CAPACITY 2048  // vertices that a block keeps in shared memory
#endif

#ifndef COUNTS
#define COUNTS 0  // 1: bfs_private counts the use of its queues
#endif

// Counts that bfs_private sums over the levels of a search, with COUNTS.
enum QueueCounter {
    KEPT,        // vertices that a block kept in shared memory
    OVERFLOWED,  // vertices for which there was no place
    RESERVED,    // blocks that reserved places with the global counter, each once
};

using place_t = unsigned_t;  // wide enough for all vertices, since one block may find them all

extern "C" __global__ void bfs_frontier(const edge_t* __restrict__ row_offsets,
                                        const vertex_t* __restrict__ column_indices,
                                        const vertex_t* __restrict__ frontier, i64 frontier_size, i32 level,
                                        i32* distance, vertex_t* predecessor, vertex_t* next, u64* counters) {
    i64 examined = 0;
    for (i64 i = global_thread(); i < frontier_size; i += global_threads()) {
        const vertex_t u = frontier[i];
        const i64 begin = row_offsets[u];
        const i64 end = row_offsets[u + 1];
        examined += end - begin;
        for (i64 edge = begin; edge < end; ++edge) {
            const vertex_t neighbor = column_indices[edge];
            if (!claim(distance, neighbor, level)) continue;
            if (predecessor != nullptr) predecessor[neighbor] = u;
            next[atomicAdd(&counters[FOUND], 1ull)] = neighbor;
        }
    }
    count(counters, EDGES, examined);
}

extern "C" __global__ void bfs_private(const edge_t* __restrict__ row_offsets,
                                       const vertex_t* __restrict__ column_indices,
                                       const vertex_t* __restrict__ frontier, i64 frontier_size, i32 level,
                                       i32* distance, vertex_t* predecessor, vertex_t* next, u64* counters,
                                       [[maybe_unused]] u64* queue_counters) {
    __shared__ vertex_t private_queue[PRIVATE_CAPACITY];
    __shared__ place_t private_size;  // includes overflow; clamped when read after the barrier
    __shared__ u64 base;
    if (threadIdx.x == 0) private_size = 0;
    __syncthreads();

    i64 examined = 0;
    for (i64 i = global_thread(); i < frontier_size; i += global_threads()) {
        const vertex_t u = frontier[i];
        const i64 begin = row_offsets[u];
        const i64 end = row_offsets[u + 1];
        examined += end - begin;
        for (i64 edge = begin; edge < end; ++edge) {
            const vertex_t neighbor = column_indices[edge];
            if (!claim(distance, neighbor, level)) continue;
            if (predecessor != nullptr) predecessor[neighbor] = u;
            const place_t place = atomicAdd(&private_size, static_cast<place_t>(1));
            if (place < PRIVATE_CAPACITY) {
                private_queue[place] = neighbor;
            } else {
                next[atomicAdd(&counters[FOUND], 1ull)] = neighbor;
                if (COUNTS) atomicAdd(&queue_counters[OVERFLOWED], 1ull);
            }
        }
    }
    count(counters, EDGES, examined);

    __syncthreads();
    const place_t size = private_size < PRIVATE_CAPACITY ? private_size : PRIVATE_CAPACITY;
    if (threadIdx.x == 0 && size > 0) {
        base = atomicAdd(&counters[FOUND], static_cast<u64>(size));
        if (COUNTS) atomicAdd(&queue_counters[RESERVED], 1ull);
    }
    __syncthreads();
    for (place_t i = threadIdx.x; i < size; i += blockDim.x) {
        next[base + i] = private_queue[i];
        if (COUNTS) atomicAdd(&queue_counters[KEPT], 1ull);
    }
}
