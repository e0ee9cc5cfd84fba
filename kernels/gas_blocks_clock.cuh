// Where the time of a launch over blocks goes: cycles of each phase, summed over the thread blocks.
//
// With CLOCKS=1, the sum of phase p is in column CLOCKED of the counts of block p, if there are so many blocks.
#pragma once
#include "gas_blocks.cuh"

#ifndef CLOCKS
#define CLOCKS 0
#endif

enum Phase { BEGINNING, ENTERING, ITEMS, CHUNKS, BARRIER, ENDING, N_PHASES };

// Kept by the first thread of each block.
struct PhaseClock {
#if CLOCKS
    i64 last = clock64();
    i64 spent[N_PHASES] = {};
#endif

    __device__ __forceinline__ void lap([[maybe_unused]] Phase phase) {
#if CLOCKS
        const i64 now = clock64();
        spent[phase] += now - last;
        last = now;
#endif
    }

    __device__ __forceinline__ void report([[maybe_unused]] const BlocksArguments& given) const {
#if CLOCKS
        if (threadIdx.x != 0) return;
        for (i32 i = 0; i < min(static_cast<i32>(N_PHASES), given.n_blocks); ++i) {
            atomicAdd(&counts_of(given, i)[CLOCKED], static_cast<u64>(spent[i]));
        }
#endif
    }
};
