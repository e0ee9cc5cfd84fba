// The beginning and the end of a fused search: clears the marks, and writes out the answer.
#pragma once
#include "fused_state.cuh"

// Unsigned, so that a loop can step a few million past the last vertex without overflow.
using place_t = unsigned_t;

// Clears the bits of visited vertices and of the frontier.  Bits past the last vertex count as visited.
__device__ void clear(u32* visited, u32* bitmap, vertex_t n_vertices) {
    const vertex_t n_words = bitmap_words(n_vertices);
    for (i64 i = global_thread(); i < n_words; i += global_threads()) {
        const bool ragged = i + 1 == n_words && (n_vertices & 31);
        visited[i] = ragged ? ~0u << (n_vertices & 31) : 0;
        bitmap[i] = 0;
    }
}

// Writes out the distances of four vertices and marks the unreached ones; `reached` has a bit for each.
__device__ __forceinline__ void write_out(const State& state, place_t first, u32 reached, uchar4 near,
                                          place_t end) {
    const i32 distance[4] = {near.x, near.y, near.z, near.w};
    const bool far = max(max(distance[0], distance[1]), max(distance[2], distance[3])) == FAR;
    if ((reached & 15) == 15 && !far && first + 4 <= end) {
        *reinterpret_cast<int4*>(state.distance + first) =
            make_int4(distance[0], distance[1], distance[2], distance[3]);
        return;
    }
    for (i32 k = 0; k < 4 && first + k < end; ++k) {
        if (!(reached >> k & 1)) {
            state.distance[first + k] = UNREACHED;
#if PREDECESSORS
            state.predecessor[first + k] = NONE;
#endif
        } else if (distance[k] < FAR) {
            state.distance[first + k] = distance[k];
        }
    }
}

// Writes out the distances and marks unreached vertices.  A thread takes four vertices at a time, and issues
// several loads before it writes, because loads do not overtake writes.
__device__ void finish(const State& state, vertex_t n_vertices) {
    constexpr i32 AT_ONCE = 4;
    const place_t end = static_cast<place_t>(n_vertices);
    const place_t step = 4 * static_cast<place_t>(global_threads());
    for (place_t base = 4 * static_cast<place_t>(global_thread()); base < end; base += AT_ONCE * step) {
        u32 reached[AT_ONCE];
        uchar4 near[AT_ONCE];
#pragma unroll
        for (i32 k = 0; k < AT_ONCE; ++k) {
            const place_t first = min(base + k * step, (end - 1) / 4 * 4);
            reached[k] = state.visited[first >> 5] >> (first & 31);
            near[k] = *reinterpret_cast<const uchar4*>(state.near + first);
        }
#pragma unroll
        for (i32 k = 0; k < AT_ONCE; ++k) {
            const place_t first = base + k * step;
            if (first < end) write_out(state, first, reached[k], near[k], end);
        }
    }
}
