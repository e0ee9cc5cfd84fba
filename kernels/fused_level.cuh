// The end of a level of the fused search: threads add up their counts over the grid, and the barrier makes
// the totals known to all blocks.
#pragma once
#include "fused_direction.cuh"
#include "grid_barrier.cuh"
#if RANKED
#include "fused_leaving.cuh"
#endif

struct BlockShared {
    Direction direction;
    Share sum;   // this block's share, on its way to the grid's
    Level seen;  // the grid's totals, as read after the barrier
#if RANKED
    Leaving leaving;
#endif
};

// Returns the warp's sum to lane 0.
__device__ __forceinline__ u64 warp_sum(u64 value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) value += __shfl_down_sync(FULL_WARP, value, step);
    return value;
}

__device__ __forceinline__ u32 warp_sum(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL_WARP, value);
#else
    for (i32 step = WARP / 2; step > 0; step /= 2) value += __shfl_down_sync(FULL_WARP, value, step);
    return value;
#endif
}

// Sums a block's tallies in shared memory; complete after the next __syncthreads().
__device__ __forceinline__ void add_tally(const Tally& tally, Share& sum) {
    bool any = tally.vertices || tally.edges;
#if TRACE
    any |= tally.examined || tally.looked;
#endif
    if (!__any_sync(FULL_WARP, any)) return;
    const count_t vertices = warp_sum(static_cast<count_t>(tally.vertices));
    const count_t edges = warp_sum(tally.edges);
    const u32 targets = warp_sum(tally.targets);
    if (lane_id() == 0) {
        atomicAdd(&sum.vertices, vertices);
        atomicAdd(&sum.edges, edges);
        if (targets) atomicAdd(&sum.targets, static_cast<count_t>(targets));
    }
#if TRACE
    const u64 examined = warp_sum(tally.examined);
    const u64 from_host = warp_sum(tally.from_host);
    const u64 hub_hits = warp_sum(tally.hub_hits);
    const u64 looked = warp_sum(tally.looked);
    if (lane_id() == 0) {
        atomicAdd(&sum.examined, examined);
        atomicAdd(&sum.from_host, from_host);
        atomicAdd(&sum.hub_hits, hub_hits);
        atomicAdd(&sum.looked, looked);
    }
#endif
}

// Adds a block's share to the grid's totals.
__device__ __forceinline__ void add_totals(const Share& sum, Level* level) {
    if (sum.vertices) atomicAdd(&level->vertices, static_cast<u64>(sum.vertices));
    if (sum.edges) atomicAdd(&level->edges, static_cast<u64>(sum.edges));
    if (sum.targets) atomicAdd(&level->targets, static_cast<u64>(sum.targets));
#if TRACE
    if (sum.hub_hits) atomicAdd(&level->hub_hits, sum.hub_hits);
    if (sum.looked) atomicAdd(&level->looked, sum.looked);
    if (sum.examined) atomicAdd(&level->examined, sum.examined);
    if (PAGED) atomicAdd(&level->from_host, sum.from_host);
#endif
}

// Reads totals that other blocks have written.
__device__ __forceinline__ void see_totals(Level& seen, const Level* level) {
    seen.narrow = __ldcg(&level->narrow);
    seen.hubs = __ldcg(&level->hubs);
    seen.vertices = __ldcg(&level->vertices);
    seen.edges = __ldcg(&level->edges);
    seen.targets = __ldcg(&level->targets);
    seen.deferred = __ldcg(&level->deferred);
#if TRACE
    seen.hub_hits = __ldcg(&level->hub_hits);
    seen.looked = __ldcg(&level->looked);
    seen.examined = __ldcg(&level->examined);
    seen.from_host = PAGED ? __ldcg(&level->from_host) : 0;
#endif
}

// Ends a level (or a part of one): every block then sees all writes of the other blocks and the level's
// totals.  The thread that waits for the grid also reads the totals, which saves a third barrier of the
// block.  Returns false if the ranks' search has to end without an answer.
__device__ __forceinline__ bool end_level(BlockShared& shared, Control* control, Level* level,
                                          const Tally& tally, u32& epoch) {
    add_tally(tally, shared.sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        add_totals(shared.sum, level);
        shared.sum = Share{};
#if RANKED
        add_release(&control->barrier, 1);
        epoch += gridDim.x;
        wait_or_leave(&control->barrier, epoch, shared.leaving);
#else
        arrive_and_wait(&control->barrier, epoch);
#endif
        see_totals(shared.seen, level);
    }
    __syncthreads();
#if RANKED
    return shared.leaving.why == 0;
#else
    return true;
#endif
}
