// Measures where the time of a launch over blocks goes: the cycles of each phase, summed over the thread
// blocks, and the largest number of edges that a thread block has followed in one round.
//
// With CLOCKS=1, the sum of phase p is in column CLOCKED of the counts of block of edges p, and the number of
// edges in that of block N_PHASES; a figure for which the graph has no such block is left out.
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

    __device__ __forceinline__ void followed([[maybe_unused]] const BlocksArguments& given,
                                             [[maybe_unused]] u64 n_edges) const {
#if CLOCKS
        if (N_PHASES < given.n_blocks) atomicMax(&counts_of(given, N_PHASES)[CLOCKED], n_edges);
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
