// Rows whose edges ascend by weight, and what an edge offers: a distance plus its weight.
//
// Distances are compared as unsigned integers: int64 sums of integers as they are, float64 sums by their
// bits, which ascend with the number because none is negative.
#pragma once
#include "level.cuh"
#include "path_weights.cuh"

#if WEIGHT <= 2
constexpr u64 FAR = 0x7fffffffffffffff;  // the distance of what is not reached: the largest int64
#else
constexpr u64 FAR = 0x7ff0000000000000;  // infinity
#endif

// An edge: one load of 8 or 16 bytes.
struct alignas(2 * sizeof(weight_t)) Entry {
    vertex_t vertex;
    weight_t weight;
};

__device__ __forceinline__ distance_t number_of(u64 bits) {
#if WEIGHT <= 2
    return static_cast<i64>(bits);
#else
    return __longlong_as_double(static_cast<i64>(bits));
#endif
}

// Sums of integers do not overflow: a distance and a weight are below 2^63 each, and FAR plus a weight is
// above every distance.
__device__ __forceinline__ u64 sum(u64 distance, distance_t more) {
#if WEIGHT <= 2
    return distance + static_cast<u64>(more);
#else
    return static_cast<u64>(__double_as_longlong(number_of(distance) + more));
#endif
}

__device__ __forceinline__ u64 offer(u64 distance, weight_t weight) {
    return sum(distance, static_cast<distance_t>(weight));
}

__device__ __forceinline__ u64 warp_min(u64 value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) {
        const u64 other = __shfl_xor_sync(FULL_WARP, value, step);
        if (other < value) value = other;
    }
    return value;
}
