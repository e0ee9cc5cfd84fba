// The smallest of several vertices or places, in which NONE is greater than all others.
#pragma once
#include "common.cuh"

// The plain read saves later callers the atomic.
__device__ __forceinline__ void keep_smallest(vertex_t* address, vertex_t vertex) {
    unsigned_t* kept = reinterpret_cast<unsigned_t*>(address);
    if (static_cast<unsigned_t>(vertex) < *kept) atomicMin(kept, static_cast<unsigned_t>(vertex));
}
