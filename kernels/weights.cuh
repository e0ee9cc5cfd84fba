// Copying of weights whose type the kernel need not know.
#pragma once
#include "common.cuh"

// Copies weight i, of 4 or 8 bytes, to a place in another array; does nothing if there are no weights (0
// bytes).
__device__ __forceinline__ void copy_weight(const void* from, i32 weight_bytes, i64 i, void* to, u64 place) {
    if (weight_bytes == 4) static_cast<u32*>(to)[place] = static_cast<const u32*>(from)[i];
    if (weight_bytes == 8) static_cast<u64*>(to)[place] = static_cast<const u64*>(from)[i];
}
