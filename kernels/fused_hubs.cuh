// Lists of hubs, vertices of high degree, whose edges are distributed evenly over the grid: the rows are cut
// into chunks of equal size, and each warp takes a run of chunks, which may extend over several hubs.
#pragma once
#include "fused_state.cuh"

__device__ __forceinline__ u32 warp_scan(u32 value) {
    for (i32 step = 1; step < WARP; step *= 2) {
        const u32 below = __shfl_up_sync(FULL_WARP, value, step);
        if (lane_id() >= step) value += below;
    }
    return value;
}

// Appends the hub of each lane where `mine` is true, with its number of chunks; the whole warp calls it.
__device__ __forceinline__ void append_hubs(HubItem* hubs, u64* packed, bool mine, vertex_t v, u32 chunks) {
    const u32 lanes = __ballot_sync(FULL_WARP, mine);
    if (!lanes) return;
    const u32 inclusive = warp_scan(mine ? chunks : 0);
    u64 before = 0;
    if (lane_id() == 31) before = reserve(packed, static_cast<u64>(__popc(lanes)) << CHUNK_BITS | inclusive);
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
        const u64 step = (size + WARP - 1) / WARP;
        const u64 probe = lane_id() * step;
        const bool before = probe < size && hubs[low + probe].first_chunk <= chunk;
        const u64 last = __popc(__ballot_sync(FULL_WARP, before)) - 1;
        low += last * step;
        size = min(step, size - last * step);
    }
    return low;
}

// Calls visit(hub, first, last) for each run of offsets that is assigned to this warp.  Offsets are relative
// to the hub's row, and both ends may be past the end of the row.  The first `n_busy` warps have other work,
// so they get chunks last.
template <u32 CHUNK, class Visit>
__device__ __forceinline__ void for_hub_chunks(const HubItem* hubs, u64 packed, count_t n_busy, Visit visit) {
    const u64 size = n_hubs(packed);
    if (n_chunks(packed) == 0) return;
    static_assert(CHUNK % BATCH == 0);
    constexpr u32 PIECES = CHUNK / BATCH;
    count_t warp = static_cast<count_t>(grid_warp());
    const count_t n_warps = static_cast<count_t>(grid_warps());
    warp = warp < n_busy ? warp + n_warps - n_busy : warp - n_busy;
    // Distributes pieces so small that a warp can have the loads of all their edges in flight at once.
    const count_t chunks = static_cast<count_t>(n_chunks(packed)) * PIECES;
    const count_t share = (chunks + n_warps - 1) / n_warps;
    count_t chunk = warp * share;
    const count_t end = min(chunk + share, chunks);
    if (chunk >= end) return;
    for (u64 hub = find_hub(hubs, size, chunk / PIECES); chunk < end; ++hub) {
        const count_t first = static_cast<count_t>(hubs[hub].first_chunk) * PIECES;
        const count_t next =
            hub + 1 < size ? static_cast<count_t>(hubs[hub + 1].first_chunk) * PIECES : chunks;
        const count_t stop = min(next, end);
        visit(hubs[hub].vertex, static_cast<edge_t>((chunk - first) * BATCH),
              static_cast<edge_t>((stop - first) * BATCH));
        chunk = stop;
    }
}
