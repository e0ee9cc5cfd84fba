// Look-ups of the frontier in a pull step, for a vertex and for the edges of a row.
#pragma once
#include "fused_state.cuh"

// Words of the frontier bitmap that each block keeps in shared memory.  With vertices in descending order of
// degree they belong to the hubs, which most look-ups ask for (SYSTEMS V6).
#ifndef HUB_WORDS
#define HUB_WORDS 1024
#endif

// The frontier of a pull step.
struct Frontier {
    const u32* bitmap;
    const u32* hubs;  // copy of the first `hub_words` words, in shared memory
    vertex_t hub_words;
#if RANKED
    // With `words_each` not 0, each word is read from its rank, `place` bytes into the memory of that rank.
    vertex_t words_each;
    i64 place;
    Shared* const* shared;
#endif

    __device__ __forceinline__ bool holds(vertex_t v, [[maybe_unused]] Tally& tally) const {
        const vertex_t word = word_of(v);
#if RANKED
        if (words_each) {
            const u8* const there = reinterpret_cast<const u8*>(shared[word / words_each]) + place;
            return reinterpret_cast<const volatile u32*>(there)[word] >> (v & 31) & 1;
        }
#endif
#if TRACE
        tally.hub_hits += word < hub_words;
#endif
        return (word < hub_words ? hubs[word] : bitmap[word]) >> (v & 31) & 1;
    }
};

// Fills the copy of the frontier in shared memory; the whole block calls it.
__device__ __forceinline__ void copy_hubs(const Frontier& frontier, u32* hubs) {
    if (frontier.hub_words == 0) return;
    for (vertex_t i = threadIdx.x; i < frontier.hub_words; i += BLOCK_SIZE) hubs[i] = frontier.bitmap[i];
    __syncthreads();
}

// The first neighbours are in an array of their own: they settle most vertices without a read of the rows. A
// vertex without neighbours has NONE; one with a single neighbour u has -2 - u, so that no thread looks for
// more.
__device__ __forceinline__ vertex_t neighbor_in(vertex_t entry) {
    return entry < NONE ? -2 - entry : entry;
}

// Returns the first neighbour in the frontier among the edges [begin, end), or NONE; whole warps call it with
// equal arguments.
__device__ __forceinline__ vertex_t warp_search(const Graph& graph, const Frontier& frontier, edge_t begin,
                                                edge_t end, Tally& tally) {
    for (edge_t base = begin; base < end; base += WARP * UNROLL) {
        vertex_t from[UNROLL];
#pragma unroll
        for (i32 k = 0; k < UNROLL; ++k) {
            const edge_t edge = base + WARP * k + lane_id();
            from[k] = edge < end ? graph.in.neighbor(edge, tally) : NONE;
            if (TRACE && edge < end) tally.examined += 1;
        }
        vertex_t hit = NONE;
#pragma unroll
        for (i32 k = UNROLL - 1; k >= 0; --k) {
            if (from[k] != NONE && frontier.holds(from[k], tally)) hit = from[k];
        }
        const u32 lanes = __ballot_sync(FULL_WARP, hit != NONE);
        if (lanes) return __shfl_sync(FULL_WARP, hit, __ffs(lanes) - 1);
    }
    return NONE;
}
