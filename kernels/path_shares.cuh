// Shared parts of path_shares.cu and path_shares_batch.cu.
#pragma once
#include "level.cuh"

// Returns whether an edge repeats the one before it in an ascending row that begins at `begin`.
__device__ __forceinline__ bool is_copy(const vertex_t* column_indices, i64 begin, i64 edge) {
    return edge > begin && column_indices[edge] == column_indices[edge - 1];
}

__device__ __forceinline__ double warp_sum(double value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    return value;
}
