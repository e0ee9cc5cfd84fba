// The end of a level of the fused search: each block adds its share to the level's totals, and waits until
// all blocks have done so.
//
// With COUNTED, each total counts, in its lowest bits, the blocks that have added to it, and the blocks wait
// for the totals themselves.  Without, there is a barrier: a block waits until its additions have taken place
// before it arrives, and reads the totals afterwards; either takes one more round trip to the cache.
#pragma once
#include "fused_direction.cuh"
#include "grid_barrier.cuh"
#if RANKED
#include "fused_leaving.cuh"
#endif

struct BlockShared {
    Direction direction;
    Share sum;   // this block's share, on its way to the grid's
    Level seen;  // the grid's totals
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

// Adds a block's counts that only a trace has, and reads those of the grid when all blocks have arrived.
__device__ __forceinline__ void add_traced(const Share& sum, Level* level) {
#if TRACE
    if (sum.hub_hits) atomicAdd(&level->hub_hits, sum.hub_hits);
    if (sum.looked) atomicAdd(&level->looked, sum.looked);
    if (sum.examined) atomicAdd(&level->examined, sum.examined);
    if (PAGED) atomicAdd(&level->from_host, sum.from_host);
#endif
}

__device__ __forceinline__ void see_traced(Level& seen, const Level* level) {
#if TRACE
    seen.hub_hits = __ldcg(&level->hub_hits);
    seen.looked = __ldcg(&level->looked);
    seen.examined = __ldcg(&level->examined);
    seen.from_host = PAGED ? __ldcg(&level->from_host) : 0;
#endif
}

// The lanes of a block's first warp take one total each; those left over take the last one, too.
__device__ __forceinline__ u32 lane_field() {
    return min(lane_id(), static_cast<u32>(TOTALS - 1));
}

__device__ __forceinline__ u64* lane_total(Level* level) {
    return reinterpret_cast<u64*>(level) + lane_field();
}

#if COUNTED
// The block's share of the lane's total, and 1 for its arrival.  To the other totals, warps add by reserve().
__device__ __forceinline__ u64 lane_share(const Share& sum) {
    constexpr u32 FIRST = 2;  // field of `Level` that is the first of the three in `Share`
    const u32 place = lane_id() - FIRST;
    const u64 share = place < 3 ? reinterpret_cast<const count_t*>(&sum)[place] : 0;
    return share << ARRIVAL_BITS | 1;
}

// Returns how often blocks have added their shares to a total.
__device__ __forceinline__ u32 arrivals(u64 total) {
    return static_cast<u32>(total) & ((1u << ARRIVAL_BITS) - 1);
}
#else
__device__ __forceinline__ void add_shares(const Share& sum, Level* level) {
    if (sum.vertices) atomicAdd(&level->vertices, static_cast<u64>(sum.vertices));
    if (sum.edges) atomicAdd(&level->edges, static_cast<u64>(sum.edges));
    if (sum.targets) atomicAdd(&level->targets, static_cast<u64>(sum.targets));
}
#endif

// Waits for all blocks at the barrier; one thread calls it, after it has arrived there.
__device__ __forceinline__ void wait_at(Control* control, u32 epoch, BlockShared& shared) {
#if RANKED
    wait_or_leave(&control->barrier, epoch, shared.leaving);
#else
    wait(&control->barrier, epoch);
#endif
}

// Returns false if the ranks' search has to end without an answer.
__device__ __forceinline__ bool stays(const BlockShared& shared) {
#if RANKED
    return shared.leaving.why == 0;
#else
    return true;
#endif
}

// Adds the block's share to the totals; its first warp calls this.
__device__ __forceinline__ void arrive(BlockShared& shared, Control* control, Level* level, u32& epoch) {
    if (lane_id() == 0) add_traced(shared.sum, level);
#if COUNTED
    if (lane_id() < TOTALS) add_release(lane_total(level), lane_share(shared.sum));
#else
    if (lane_id() == 0) {
        add_shares(shared.sum, level);
        arrive(&control->barrier, epoch);
    }
#endif
}

// Waits until all blocks have arrived at the end of a level, `times` times since it was cleared, and reads
// the totals; the first warp calls this.  Blocks that go on may already have added their shares of the next
// part.
__device__ __forceinline__ void see_totals(BlockShared& shared, Control* control, Level* level, u32 epoch,
                                           u32 times) {
#if COUNTED
    u64 total = load_acquire(lane_total(level));
    for (u32 tries = 1; __any_sync(FULL_WARP, arrivals(total) < times * gridDim.x); ++tries) {
#if RANKED
        if (__any_sync(FULL_WARP, must_leave(tries, shared.leaving))) break;
#endif
        total = load_acquire(lane_total(level));
    }
#else
    if (lane_id() == 0) wait_at(control, epoch, shared);
    __syncwarp();
    const u64 total = __ldcg(lane_total(level));
#endif
    reinterpret_cast<u64*>(&shared.seen)[lane_field()] = total >> ARRIVAL_BITS;
    if (lane_id() == 0) see_traced(shared.seen, level);
}

// A barrier of the grid: every block then sees all writes of the other blocks.  Returns false if the search
// has to end without an answer.
__device__ __forceinline__ bool sync_grid(BlockShared& shared, Control* control, u32& epoch) {
    __syncthreads();
    if (threadIdx.x == 0) {
        arrive(&control->barrier, epoch);
        wait_at(control, epoch, shared);
    }
    __syncthreads();
    return stays(shared);
}

// Ends a level (or a part of one): as sync_grid(), and every block sees the level's totals.  `times` says how
// often this level has been ended, this time included.
__device__ __forceinline__ bool end_level(BlockShared& shared, Control* control, Level* level,
                                          const Tally& tally, u32& epoch, u32 times = 1) {
    add_tally(tally, shared.sum);
    __syncthreads();
    if (warp_in_block() == 0) {
        arrive(shared, control, level, epoch);
        __syncwarp();
        if (lane_id() == 0) shared.sum = Share{};
        see_totals(shared, control, level, epoch, times);
    }
    __syncthreads();
    return stays(shared);
}
