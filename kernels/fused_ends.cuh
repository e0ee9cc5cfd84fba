// The beginning and the end of a fused search: marks cleared, and the answer written out.
#pragma once
#include "fused_state.cuh"

// Clears the bits of visited vertices and of the frontier.  Bits past the last vertex count as visited.
__device__ void clear(u32* visited, u32* bitmap, vertex_t n_vertices) {
    const vertex_t n_words = bitmap_words(n_vertices);
    for (i64 i = global_thread(); i < n_words; i += global_threads()) {
        const bool ragged = i + 1 == n_words && (n_vertices & 31);
        visited[i] = ragged ? ~0u << (n_vertices & 31) : 0;
        bitmap[i] = 0;
    }
}

// Marks unreached vertices; a thread takes a word of the bitmap, and a warp its vertices one after another.
__device__ void finish(const State& state, vertex_t n_vertices) {
    const vertex_t n_words = bitmap_words(n_vertices);
    for (i64 base = global_thread() - lane_id(); base < n_words; base += global_threads()) {
        const i64 word = base + lane_id();
        const u32 missing = word < n_words ? ~state.visited[word] : 0;
        for (u32 busy = __ballot_sync(FULL_WARP, missing); busy; busy &= busy - 1) {
            const i32 k = __ffs(busy) - 1;
            if (!(__shfl_sync(FULL_WARP, missing, k) >> lane_id() & 1)) continue;
            const i64 v = (base + k) * 32 + lane_id();
            state.distance[v] = UNREACHED;
#if PREDECESSORS
            state.predecessor[v] = NONE;
#endif
        }
    }
}
