// Shared parts of the level-by-level kernels: the counters that a level reports to the host, and claiming a
// vertex.
#pragma once
#include "common.cuh"

// A row of u64 for each level, in this order (as in rapids_trav/engines/cuda/bfs/levels.py).
enum Counter {
    FOUND,      // vertices that the level reached; only a flag in bfs_push.cu and bfs_edge.cu
    FRONTIER,   // vertices that the level expanded, unless the host knows their number
    EDGES,      // edges examined
    SCOUT,      // out-edges of the vertices found
    LIGHT,      // queue entries from the front of the buffer: short rows
    HEAVY,      // queue entries from the back of the buffer: long rows
    REMAINING,  // out-edges of the vertices that some search has not reached yet
};

// Adds every lane's value to a counter with one atomic; the whole warp calls it.
__device__ __forceinline__ void count(u64* counters, i32 which, i64 value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    if (lane_id() == 0 && value > 0) atomicAdd(&counters[which], static_cast<u64>(value));
}

// Reserves a place at the end of a list for each active lane, with one atomic for all of them.
__device__ __forceinline__ i64 next_place(u64* counters, Counter which) {
    const u32 active = __activemask();
    const i32 leader = __ffs(static_cast<i32>(active)) - 1;
    u64 base = 0;
    if (lane_id() == leader) base = atomicAdd(&counters[which], static_cast<u64>(__popc(active)));
    base = __shfl_sync(active, base, leader);
    return static_cast<i64>(base) + __popc(active & lanes_below());
}

// Puts `vertex` on `level`; returns true to exactly one caller.  The plain read saves later callers the
// atomic.
__device__ __forceinline__ bool claim(i32* distance, vertex_t vertex, i32 level) {
    return distance[vertex] == UNREACHED && atomicCAS(&distance[vertex], UNREACHED, level) == UNREACHED;
}

__device__ __forceinline__ edge_t degree(const edge_t* row_offsets, vertex_t vertex) {
    return row_offsets[vertex + 1] - row_offsets[vertex];
}
