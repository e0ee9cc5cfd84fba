// Prefix sums over a block: each warp scans its values, then the totals of the warps are scanned.
#pragma once
#include "level.cuh"

// Returns the sum of the values of the block's threads up to and including this one, like cub::BlockScan.
// `warp_totals`, in shared memory, has a place for each warp; the caller may use it for other things as well.
__device__ __forceinline__ i32 block_inclusive_sum(i32 value, i32* warp_totals) {
    for (i32 step = 1; step < WARP; step *= 2) {
        const i32 below = __shfl_up_sync(FULL_WARP, value, step);
        if (lane_id() >= step) value += below;
    }
    const i32 warp = static_cast<i32>(threadIdx.x) / WARP;
    if (lane_id() == WARP - 1) warp_totals[warp] = value;
    __syncthreads();
    for (i32 earlier = 0; earlier < warp; ++earlier) value += warp_totals[earlier];
    return value;
}
