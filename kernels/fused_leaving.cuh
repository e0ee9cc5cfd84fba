// How the blocks of a rank leave a search that cannot end: one rank was lost, or somebody wants it to stop.
//
// Every rank has a word that says why the search has to end, and keeps saying so.  A block that waits, for
// the other blocks or for other ranks, looks at it from time to time.  One that leaves does not arrive at
// the next barrier; those that wait there leave then, too.
#pragma once
#include "common.cuh"

// A look at the word, or at the clock, takes as long as some tries of what is waited for.
#ifndef ASK_EVERY
#define ASK_EVERY 64
#endif

// What a block of a rank knows of it, in its shared memory.
struct Leaving {
    const u32* stop;  // the rank's word: 0, or why the search has to end
    u32* told;        // where the host reads why
    u32 why;          // as the block has read it
};

__device__ __forceinline__ u32 load_acquire_system(const u32* address) {
    u32 value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ u64 load_acquire_system(const u64* address) {
    u64 value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void store_release_system(u32* address, u32 value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

// Notes why the block leaves; several threads may.
__device__ __forceinline__ void leave(Leaving& leaving, u32 why) {
    *static_cast<volatile u32*>(leaving.told) = why;
    leaving.why = why;
}

// Waits until all blocks have arrived at a barrier, or one has left.
__device__ __forceinline__ void wait_or_leave(const u32* barrier, u32 epoch, Leaving& leaving) {
    for (u32 tries = 1; static_cast<i32>(load_acquire(barrier) - epoch) < 0; ++tries) {
        if (tries % ASK_EVERY) continue;
        const u32 why = load_acquire_system(leaving.stop);
        if (!why) continue;
        leave(leaving, why);
        return;
    }
}
