// Look-ups in the frontier's bitmap in a pull step, for single vertices and for the edges of a row.
#pragma once
#include "fused_state.cuh"

// Whether look-ups of hubs go to a copy of their words in shared memory.
#ifndef HUB_CACHE
#define HUB_CACHE 0
#endif
// Words of the frontier bitmap that each block keeps in shared memory.  With vertices in descending order of
// degree they belong to the hubs, which most look-ups ask for (docs/systems.md, V6).
#ifndef HUB_WORDS
#define HUB_WORDS 1024
#endif

// The frontier of a pull step.
struct Frontier {
    const u32* bitmap;
    const u32* hubs;  // copy of the first `hub_words` words, in shared memory
    vertex_t hub_words;

    // Returns a vertex's word.
    __device__ __forceinline__ u32 word(vertex_t v, [[maybe_unused]] Tally& tally) const {
        const vertex_t word = word_of(v);
#if HUB_CACHE
#if TRACE
        tally.hub_hits += word < hub_words;
#endif
        if (word < hub_words) return hubs[word];
#endif
        return bitmap[word];
    }
};

// Ends a batch of loads: where registers are scarce, the compiler would otherwise wait for one before it
// issues the next.
__device__ __forceinline__ void end_loads() {
    if (RANKED) __syncwarp(__activemask());
}

// Returns which of N vertices, some of which may be NONE, are in the frontier.  Unless the hub cache is in
// use, the look-ups are not in separate branches, so that all look-ups of a thread are in flight together.
template <i32 N>
__device__ __forceinline__ void look_up(const Frontier& frontier, const vertex_t (&v)[N], bool (&hit)[N],
                                        Tally& tally) {
    u32 word[N];
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
#if HUB_CACHE
        word[k] = v[k] == NONE ? 0 : frontier.word(v[k], tally);
#else
        word[k] = frontier.word(max(v[k], static_cast<vertex_t>(0)), tally);
#endif
    }
    end_loads();
#pragma unroll
    for (i32 k = 0; k < N; ++k) hit[k] = v[k] != NONE && word[k] >> (v[k] & 31) & 1;
}

// Fills the copy of the frontier in shared memory; the whole block calls it.
__device__ __forceinline__ void copy_hubs(const Frontier& frontier, u32* hubs) {
#if HUB_CACHE
    for (vertex_t i = threadIdx.x; i < frontier.hub_words; i += BLOCK_SIZE) hubs[i] = frontier.bitmap[i];
    __syncthreads();
#endif
}

// The first neighbour of every row is also in an array, which settles most vertices without a read of their
// rows.  A vertex without neighbours has NONE there; a vertex with a single neighbour u has -2 - u, so that
// no thread looks for more.
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
        bool found[UNROLL];
        look_up(frontier, from, found, tally);
        vertex_t hit = NONE;
#pragma unroll
        for (i32 k = UNROLL - 1; k >= 0; --k) {
            if (found[k]) hit = from[k];
        }
        const u32 lanes = __ballot_sync(FULL_WARP, hit != NONE);
        if (lanes) return __shfl_sync(FULL_WARP, hit, __ffs(lanes) - 1);
    }
    return NONE;
}
