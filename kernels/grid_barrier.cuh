// The barrier of a cooperative launch: the last block to arrive lets the others continue.
#pragma once
#include "common.cuh"

// One thread of each block calls these, between barriers of the block.  Unlike grid.sync(), they let the
// other threads work while the block waits, and `epoch` is kept from launch to launch.
__device__ __forceinline__ void arrive(u32* barrier, u32& epoch) {
    epoch += gridDim.x;
    add_release(barrier, 1);
}

// Waits until all blocks have arrived.
__device__ __forceinline__ void wait(const u32* barrier, u32 epoch) {
    // Compares the difference, as the counter wraps around on a long path.
    while (static_cast<i32>(load_acquire(barrier) - epoch) < 0) {
    }
}

__device__ __forceinline__ void arrive_and_wait(u32* barrier, u32& epoch) {
    arrive(barrier, epoch);
    wait(barrier, epoch);
}
