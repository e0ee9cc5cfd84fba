// A queue of active vertices, split by the length of their rows of out-edges.
#pragma once
#include "gas_vertex.cuh"

#ifndef HEAVY_DEGREE
#define HEAVY_DEGREE 1024  // from this out-degree on, a row is heavy
#endif

__device__ __forceinline__ void append(const edge_t* out_offsets, vertex_t vertex, i64 n_vertices,
                                       vertex_t* queue, u64* counters) {
    if (degree(out_offsets, vertex) < HEAVY_DEGREE) {
        queue[next_place(counters, LIGHT)] = vertex;
    } else {
        queue[n_vertices - 1 - next_place(counters, HEAVY)] = vertex;
    }
}

// Returns vertex number i of a queue; light vertices come first.
__device__ __forceinline__ vertex_t queued(const vertex_t* queue, i64 n_vertices, const u64* sizes, i64 i) {
    const i64 n_light = static_cast<i64>(sizes[LIGHT]);
    return i < n_light ? queue[i] : queue[n_vertices - 1 - (i - n_light)];
}
