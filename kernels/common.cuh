// Types and constants of all kernels, the position of a thread, and the atomic operations of a grid-wide
// barrier.
//
// The loader puts a preamble of #defines before this text; the defaults below let nvcc and an editor compile
// each .cu alone.  Ids, offsets and counts are signed, and 64-bit wherever they may count edges, so that
// signed and unsigned values are never compared (but for degrees, with UNSIGNED_OFFSETS).  Sets of bits and
// lanes, and totals that atomics add to, are unsigned; casts to and from them are static_cast.
//
// A kernel with more than eleven arguments takes them in one struct, by value, whose fields the host reads
// from its text (rapids_trav/engines/cuda/runtime/arguments.py).  __restrict__ has no effect on members of a
// struct, only on pointers copied from them.  The struct is a __grid_constant__ only in bfs_fused.cu, because
// NVRTC then no longer hoists tests of the fields out of loops.
//
// The kernels include no headers but their own: NVRTC compiles vertex programs without any include path, and
// CuPy's cache does not notice a changed header.  Hence there is no cuda::atomic_ref, no CUB and no
// cooperative groups.  Replacements are written once: acquire and release here, the barrier of a grid in
// grid_barrier.cuh, scans and sums of warps and blocks in level.cuh, block_sum.cuh, fused_hubs.cuh and
// gas_reduce.cuh, binary searches in rows.cuh.
#pragma once

#ifndef VERTEX_BITS
#define VERTEX_BITS 32  // 64 when there are 2^31 vertices or more
#endif
#ifndef EDGE_BITS
#define EDGE_BITS 32  // 64 when there are 2^31 edges or more, or 2^32 with UNSIGNED_OFFSETS
#endif

using u8 = unsigned char;  // NVRTC has no <cstdint>, and atomics require exactly these types
using u16 = unsigned short;
using i32 = int;
using i64 = long long;
using u32 = unsigned int;
using u64 = unsigned long long;

#if VERTEX_BITS == 64
using vertex_t = i64;
using unsigned_t = u64;  // a vertex_t without sign
#else
using vertex_t = i32;
using unsigned_t = u32;
#endif
// With 1, row offsets of 32 bits have no sign, and there may be twice as many edges.
#ifndef UNSIGNED_OFFSETS
#define UNSIGNED_OFFSETS 0
#endif
#if EDGE_BITS == 64
using edge_t = i64;
#elif UNSIGNED_OFFSETS
using edge_t = u32;
#else
using edge_t = i32;
#endif

[[maybe_unused]] constexpr i32 UNREACHED = -1;  // in distance
[[maybe_unused]] constexpr vertex_t NONE = -1;  // in predecessor

[[maybe_unused]] constexpr i32 WARP = 32;
[[maybe_unused]] constexpr u32 FULL_WARP = 0xffffffffu;

__device__ __forceinline__ i32 lane_id() {
    return static_cast<i32>(threadIdx.x % WARP);
}

// Mask of the lanes before this one.
__device__ __forceinline__ u32 lanes_below() {
    return (1u << lane_id()) - 1;
}

__device__ __forceinline__ i64 global_thread() {
    return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ i64 global_threads() {
    return static_cast<i64>(gridDim.x) * blockDim.x;
}

// NVRTC has no <utility>.
template <class T>
__device__ __forceinline__ void swap(T& a, T& b) {
    const T old = a;
    a = b;
    b = old;
}

// Instead of cuda::atomic_ref.  If a block adds with release after its writes, a block that then loads the
// sum with acquire sees these writes.  Data that other blocks write must not be read through
// `const __restrict__`, whose loads may be cached.
__device__ __forceinline__ u32 load_acquire(const u32* address) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ u64 load_acquire(const u64* address) {
    u64 value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void add_release(u32* address, u32 value) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ __forceinline__ void add_release(u64* address, u64 value) {
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

__device__ __forceinline__ void store_release(u32* address, u32 value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

// Returns the sum before the addition.  The caller sees the writes of threads that added before it, and
// threads that add after it see the caller's writes.
__device__ __forceinline__ u32 add_acquire_release(u32* address, u32 value) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(address), "r"(value)
                 : "memory");
    return before;
}

__device__ __forceinline__ u64 add_acquire_release(u64* address, u64 value) {
    u64 before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(address), "l"(value)
                 : "memory");
    return before;
}
