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

// Writes out the distances and marks unreached vertices; a thread takes four vertices.
__device__ void finish(const State& state, vertex_t n_vertices) {
    for (i64 base = 4 * global_thread(); base < n_vertices; base += 4 * global_threads()) {
        const u32 reached = state.visited[base >> 5] >> (base & 31);
        const uchar4 near = *reinterpret_cast<const uchar4*>(state.near + base);
        const i32 distance[4] = {near.x, near.y, near.z, near.w};
        const bool far = max(max(distance[0], distance[1]), max(distance[2], distance[3])) == FAR;
        if ((reached & 15) == 15 && !far && base + 4 <= n_vertices) {
            *reinterpret_cast<int4*>(state.distance + base) =
                make_int4(distance[0], distance[1], distance[2], distance[3]);
            continue;
        }
        for (i32 k = 0; k < 4 && base + k < n_vertices; ++k) {
            if (!(reached >> k & 1)) {
                state.distance[base + k] = UNREACHED;
#if PREDECESSORS
                state.predecessor[base + k] = NONE;
#endif
            } else if (distance[k] < FAR) {
                state.distance[base + k] = distance[k];
            }
        }
    }
}
