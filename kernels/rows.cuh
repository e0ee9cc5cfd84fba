// Searches: bounds in ascending arrays, and the first neighbour of a row that satisfies a condition.
#pragma once
#include "level.cuh"

// Returns the first position of ascending `keys[0, size)` whose key is not below `key`.
template <class Key>
__device__ __forceinline__ i64 lower_bound(const Key* keys, i64 size, Key key) {
    i64 low = 0;
    while (size > 0) {
        const i64 half = size / 2;
        if (keys[low + half] < key) {
            low += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    return low;
}

// Returns the first neighbour u in the row [begin, end) with hit(u, key), else NONE.
//
// The whole warp calls it, each lane with its own row (empty if it has none) and key.  A lane reads the head
// of its row alone, since most scans end there; long tails are then read by the warp together, so that a hub
// costs degree / 32 steps.  `examined` grows by the edges that a serial scan would have read.
template <class Hit>
__device__ __forceinline__ vertex_t first_match(const vertex_t* column_indices, i64 begin, i64 end, i32 key,
                                                Hit hit, i64& examined) {
    constexpr i64 HEAD = 32;
    vertex_t match = NONE;
    i64 edge = begin;
    const i64 head_end = end - begin > HEAD ? begin + HEAD : end;
    while (edge < head_end && match == NONE) {
        const vertex_t neighbor = column_indices[edge++];
        if (hit(neighbor, key)) match = neighbor;
    }
    u32 waiting = __ballot_sync(FULL_WARP, match == NONE && edge < end);
    while (waiting != 0) {
        const i32 owner = __ffs(static_cast<i32>(waiting)) - 1;
        const i64 tail_begin = __shfl_sync(FULL_WARP, edge, owner);
        const i64 tail_end = __shfl_sync(FULL_WARP, end, owner);
        const i32 tail_key = __shfl_sync(FULL_WARP, key, owner);
        vertex_t found = NONE;
        i64 stopped = tail_end;
        for (i64 base = tail_begin; base < tail_end && found == NONE; base += WARP) {
            const bool inside = lane_id() < tail_end - base;
            const vertex_t neighbor = inside ? column_indices[base + lane_id()] : NONE;
            const u32 hits = __ballot_sync(FULL_WARP, inside && hit(neighbor, tail_key));
            if (hits != 0) {
                const i32 first = __ffs(static_cast<i32>(hits)) - 1;
                found = __shfl_sync(FULL_WARP, neighbor, first);
                stopped = base + first + 1;
            }
        }
        if (lane_id() == owner) {
            match = found;
            edge = stopped;
        }
        waiting &= waiting - 1;
    }
    examined += edge - begin;
    return match;
}
