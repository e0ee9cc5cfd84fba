// Lists of hubs, whose edges are distributed evenly over the grid: each warp takes a run of chunks, which may
// extend over several hubs.
#pragma once
#include "fused_state.cuh"

__device__ __forceinline__ u32 warp_scan(u32 value) {
    for (i32 step = 1; step < WARP; step *= 2) {
        u32 below = __shfl_up_sync(FULL_WARP, value, step);
        if (lane_id() >= step) value += below;
    }
    return value;
}

// Appends the hub of each lane where `mine` is true, with its number of chunks; the whole warp calls it.
__device__ __forceinline__ void append_hubs(HubItem* hubs, u64* packed, bool mine, vertex_t v, u32 chunks) {
    u32 lanes = __ballot_sync(FULL_WARP, mine);
    if (!lanes) return;
    u32 inclusive = warp_scan(mine ? chunks : 0);
    u64 before = 0;
    if (lane_id() == 31) before = atomicAdd(packed, (u64)__popc(lanes) << CHUNK_BITS | inclusive);
    before = __shfl_sync(FULL_WARP, before, 31);
    if (mine)
        hubs[n_hubs(before) + __popc(lanes & lanes_below())] =
            HubItem{n_chunks(before) + inclusive - chunks, v};
}

// Returns the hub of a chunk: the last one whose first chunk is not after it.  A warp probes 32 places at a
// time.
__device__ __forceinline__ u64 find_hub(const HubItem* hubs, u64 size, u64 chunk) {
    u64 low = 0;
    while (size > 1) {
        u64 step = (size + 31) / 32, probe = lane_id() * step;
        bool before = probe < size && hubs[low + probe].first_chunk <= chunk;
        u64 last = __popc(__ballot_sync(FULL_WARP, before)) - 1;
        low += last * step;
        size = min(step, size - last * step);
    }
    return low;
}

// Calls visit(hub, first, last) for each run of offsets, relative to its row, that is assigned to this warp;
// both ends may be past the end of the row.  The first `n_busy` warps have other work, so they get chunks
// last.
template <u32 CHUNK, class Visit>
__device__ __forceinline__ void for_hub_chunks(const HubItem* hubs, u64 packed, u64 n_busy, Visit visit) {
    u64 size = n_hubs(packed), chunks = n_chunks(packed);
    if (chunks == 0) return;
    static_assert(CHUNK % BATCH == 0);
    constexpr u32 PIECES = CHUNK / BATCH;
    u64 warp = (u64)(threadIdx.x / 32) * gridDim.x + blockIdx.x, n_warps = (u64)gridDim.x * WARPS;
    warp = warp < n_busy ? warp + n_warps - n_busy : warp - n_busy;
    // Distributes pieces so small that a warp can have the loads of all their edges in flight at once.
    chunks *= PIECES;
    u64 share = (chunks + n_warps - 1) / n_warps, chunk = warp * share, end = min(chunk + share, chunks);
    if (chunk >= end) return;
    for (u64 hub = find_hub(hubs, size, chunk / PIECES); chunk < end; ++hub) {
        u64 first = hubs[hub].first_chunk * PIECES;
        u64 stop = min(hub + 1 < size ? hubs[hub + 1].first_chunk * PIECES : chunks, end);
        visit(hubs[hub].vertex, (edge_t)((chunk - first) * BATCH), (edge_t)((stop - first) * BATCH));
        chunk = stop;
    }
}
