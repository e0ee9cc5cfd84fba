// Reductions over several threads: in memory, and between the lanes of a warp.
#pragma once
#include "gas.cuh"

// Reduces `value` into memory; returns the old value.  The hardware has no atomic minimum of floating-point
// numbers, and cuda::atomic_ref would retry a compare-and-swap where one integer atomic is enough: the bits
// of positive floating-point numbers, read as signed integers, have the order of the numbers, and the bits of
// negative numbers, read as unsigned integers, have the opposite order.
__device__ __forceinline__ value_t atomic_reduce(value_t* address, value_t value) {
#if REDUCER == 2 && VALUE == 2
    return static_cast<i64>(atomicAdd(reinterpret_cast<u64*>(address), static_cast<u64>(value)));
#elif REDUCER == 2
    return atomicAdd(address, value);
#elif VALUE <= 2
    return REDUCER == 0 ? atomicMin(address, value) : atomicMax(address, value);
#elif VALUE == 3
    const i32 bits = __float_as_int(value);
    i32* as_signed = reinterpret_cast<i32*>(address);
    u32* as_unsigned = reinterpret_cast<u32*>(address);
    if (bits >= 0) {
        return __int_as_float(REDUCER == 0 ? atomicMin(as_signed, bits) : atomicMax(as_signed, bits));
    }
    const u32 old = REDUCER == 0 ? atomicMax(as_unsigned, static_cast<u32>(bits))
                                 : atomicMin(as_unsigned, static_cast<u32>(bits));
    return __int_as_float(static_cast<i32>(old));
#else
    const i64 bits = __double_as_longlong(value);
    i64* as_signed = reinterpret_cast<i64*>(address);
    u64* as_unsigned = reinterpret_cast<u64*>(address);
    if (bits >= 0) {
        return __longlong_as_double(REDUCER == 0 ? atomicMin(as_signed, bits) : atomicMax(as_signed, bits));
    }
    const u64 old = REDUCER == 0 ? atomicMax(as_unsigned, static_cast<u64>(bits))
                                 : atomicMin(as_unsigned, static_cast<u64>(bits));
    return __longlong_as_double(static_cast<i64>(old));
#endif
}

// The lanes that share a group of `lanes` neighbouring ones, a power of two, with this one.
__device__ __forceinline__ u32 group_of(i32 lanes) {
    return lanes == WARP ? FULL_WARP : ((1u << lanes) - 1u) << (lane_id() & ~(lanes - 1));
}

// Reduces over groups of `lanes` lanes; every lane of a group gets the result.
__device__ __forceinline__ value_t group_reduce(value_t value, i32 lanes) {
    const u32 group = group_of(lanes);
    for (i32 step = lanes / 2; step > 0; step /= 2) {
        value = reduce(value, __shfl_xor_sync(group, value, step));
    }
    return value;
}
