// The end of a level of many searches, for bfs_batch.cu and distance_sums.cu: a word of `next` is moved into
// `frontier`, added to `visited`, and cleared.
#pragma once
#include "level.cuh"

constexpr i32 WORD = 64;  // searches in a word

// Counts of one thread for a level; see `enum Counter`.
struct Settled {
    i64 found = 0;
    i64 scout = 0;
    i64 remaining = 0;
};

// Returns the searches of word `i`, a word of vertex `v`, that have reached `v` on this level.
__device__ __forceinline__ u64 settle_word(const edge_t* __restrict__ out_offsets, vertex_t v, i64 i,
                                           u64 wanted, u64* frontier, u64* visited, u64* next,
                                           Settled& settled) {
    const u64 reached = next[i];
    const u64 before = visited[i];
    frontier[i] = reached;
    if (reached != 0) {
        next[i] = 0;
        visited[i] = before | reached;
        settled.found += __popcll(reached);
        settled.scout += degree(out_offsets, v);
    }
    if ((wanted & ~(before | reached)) != 0) settled.remaining += degree(out_offsets, v);
    return reached;
}

__device__ __forceinline__ u64 warp_or(u64 bits) {
    for (i32 step = WARP / 2; step > 0; step /= 2) bits |= __shfl_xor_sync(FULL_WARP, bits, step);
    return bits;
}

__device__ __forceinline__ void count_settled(u64* counters, const Settled& settled) {
    count(counters, FOUND, settled.found);
    count(counters, SCOUT, settled.scout);
    count(counters, REMAINING, settled.remaining);
}
