// Leaving a search by several ranks early: a rank is lost, or the host stops the search.
//
// Each rank has a word that says why the search has to stop.  It stays set until the host clears it.  A block
// that waits, for other blocks or for other ranks, reads the word from time to time.  If it is set, the block
// sets the words of all ranks and leaves.  Other blocks may wait for that block at a barrier, or for that
// rank; they read their rank's word, too, and leave.
#pragma once
#include "common.cuh"

// Tries of a wait between two reads of the word and the clock, each of which takes as long as several tries.
#ifndef ASK_EVERY
#define ASK_EVERY 64
#endif

// In the shared memory of each block.
struct Leaving {
    u32* const* stop;  // the word of each rank: 0, or why the search has to stop
    i32 n_ranks;
    i32 rank;
    u32* report;  // where the host reads the reason
    u32 why;      // the reason for which the block leaves, or 0

    __device__ __forceinline__ const u32* own_stop() const { return stop[rank]; }
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

// Notifies all ranks and the host why the block leaves; several threads may call it.
__device__ __forceinline__ void leave(Leaving& leaving, u32 why) {
    for (i32 r = 0; r < leaving.n_ranks; ++r) store_release_system(leaving.stop[r], why);
    *static_cast<volatile u32*>(leaving.report) = why;
    leaving.why = why;
}

// Asks every ASK_EVERY tries whether the search has to stop; if so, notifies all ranks and returns true.
__device__ __forceinline__ bool must_leave(u32 tries, Leaving& leaving) {
    if (tries % ASK_EVERY) return false;
    const u32 why = load_acquire_system(leaving.own_stop());
    if (why) leave(leaving, why);
    return why != 0;
}

// Waits until all blocks have arrived at a barrier, or until the search has to stop.
__device__ __forceinline__ void wait_or_leave(const u32* barrier, u32 epoch, Leaving& leaving) {
    for (u32 tries = 1; static_cast<i32>(load_acquire(barrier) - epoch) < 0; ++tries) {
        if (must_leave(tries, leaving)) return;
    }
}
