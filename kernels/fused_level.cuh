// The end of a level of the fused search: its totals over the grid, and the barrier.
#pragma once
#include "fused_state.cuh"
#include "grid_barrier.cuh"

struct BlockShared {
    Level sum;   // this block's share, on its way to the grid's
    Level seen;  // the grid's totals, as read after the barrier
};

// Returns the warp's sum to lane 0.
__device__ __forceinline__ u64 warp_sum(u64 value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) value += __shfl_down_sync(FULL_WARP, value, step);
    return value;
}

// Sums a block's tallies in shared memory; complete after the next __syncthreads().
__device__ __forceinline__ void add_tally(const Tally& tally, Level& sum) {
    bool any = tally.vertices || tally.edges || tally.examined;
#if TRACE
    any |= tally.looked != 0;
#endif
    if (!__any_sync(FULL_WARP, any)) return;
    const u64 vertices = warp_sum(tally.vertices);
    const u64 edges = warp_sum(tally.edges);
    const u64 targets = warp_sum(tally.targets);
    const u64 examined = warp_sum(tally.examined);
    if (lane_id() == 0) {
        atomicAdd(&sum.vertices, vertices);
        atomicAdd(&sum.edges, edges);
        if (targets) atomicAdd(&sum.targets, targets);
        if (TRACE) atomicAdd(&sum.examined, examined);
    }
#if TRACE
    const u64 hub_hits = warp_sum(tally.hub_hits);
    const u64 all_looked = warp_sum(tally.looked);
    if (lane_id() == 0) {
        atomicAdd(&sum.hub_hits, hub_hits);
        atomicAdd(&sum.looked, all_looked);
    }
#endif
    if (PAGED && TRACE) {
        const u64 from_host = warp_sum(tally.from_host);
        if (lane_id() == 0) atomicAdd(&sum.from_host, from_host);
    }
}

// Ends a level (or a part of one): every block then sees all writes of the other blocks and the level's
// totals.  The thread that waits for the grid also reads the totals, which saves a third barrier of the
// block.
__device__ __forceinline__ void end_level(BlockShared& shared, Control* control, Level* level,
                                          const Tally& tally, u32& epoch) {
    add_tally(tally, shared.sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        Level& sum = shared.sum;
        if (sum.vertices) atomicAdd(&level->vertices, sum.vertices);
        if (sum.edges) atomicAdd(&level->edges, sum.edges);
        if (sum.targets) atomicAdd(&level->targets, sum.targets);
#if TRACE
        if (sum.hub_hits) atomicAdd(&level->hub_hits, sum.hub_hits);
        if (sum.looked) atomicAdd(&level->looked, sum.looked);
#endif
        if (sum.examined) atomicAdd(&level->examined, sum.examined);
        if (PAGED && TRACE) atomicAdd(&level->from_host, sum.from_host);
        sum = Level{};
        arrive_and_wait(&control->barrier, epoch);
        shared.seen.narrow = __ldcg(&level->narrow);
        shared.seen.hubs = __ldcg(&level->hubs);
        shared.seen.vertices = __ldcg(&level->vertices);
        shared.seen.edges = __ldcg(&level->edges);
        shared.seen.targets = __ldcg(&level->targets);
#if TRACE
        shared.seen.hub_hits = __ldcg(&level->hub_hits);
        shared.seen.looked = __ldcg(&level->looked);
#endif
        shared.seen.deferred = __ldcg(&level->deferred);
        shared.seen.examined = __ldcg(&level->examined);
        if (TRACE) shared.seen.from_host = PAGED ? __ldcg(&level->from_host) : 0;
    }
    __syncthreads();
}
