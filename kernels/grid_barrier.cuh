// The barrier of a cooperative launch: the last block to arrive lets the others continue.
#pragma once
#include "common.cuh"

// Waits until all blocks have arrived; one thread of each block calls it, between barriers of the block.
// Unlike grid.sync(), it lets the other threads work while the block waits, and `epoch` is kept from launch
// to launch.
__device__ __forceinline__ void arrive_and_wait(u32* barrier, u32& epoch) {
    epoch += gridDim.x;
    add_release(barrier, 1);
    // Compares the difference, as the counter wraps around on a long path.
    while (static_cast<i32>(load_acquire(barrier) - epoch) < 0) {
    }
}
