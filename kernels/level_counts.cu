// Counts the vertices at each distance, for one or more searches.
//
// A block counts its part of a search in shared memory, then adds its counts to those of all blocks.  The
// first BINS places count the distances of a search; one more place counts the unreached vertices, and the
// last one the vertices at greater distances, which the host counts in another way if there are any.
//
// Invariant: the counts of a search add up to the number of vertices.
//
// Reference: J. Gomez-Luna et al., An optimized approach to histogram computation on GPU, Machine Vision and
// Applications 24, 2013 (privatisation).
//
// Must agree with: level_counts in rapids_trav/algorithms/results.py.
#include "common.cuh"

#ifndef BINS
#define BINS 1024
#endif

// Each blockIdx.y has its own row of distances and of counts, which are 0 before.
extern "C" __global__ void count_levels(const i32* __restrict__ distances, i64 n_vertices, i64 n_searches,
                                        u64* counts) {
    constexpr i32 PLACES = BINS + 2;
    __shared__ u32 own[PLACES];
    for (i64 search = blockIdx.y; search < n_searches; search += gridDim.y) {
        const i32* distance = distances + search * n_vertices;
        for (i32 place = static_cast<i32>(threadIdx.x); place < PLACES; place += blockDim.x) own[place] = 0;
        __syncthreads();
        for (i64 base = global_thread() - lane_id(); base < n_vertices; base += global_threads()) {
            const bool inside = base + lane_id() < n_vertices;
            const i32 level = inside ? distance[base + lane_id()] : UNREACHED;
            const i32 place = level == UNREACHED ? BINS : level < BINS ? level : BINS + 1;
            u32 waiting = __ballot_sync(FULL_WARP, inside);
            while (waiting != 0) {  // most lanes have one of a few levels: one addition for each of these
                const i32 leader = __ffs(static_cast<i32>(waiting)) - 1;
                const i32 common = __shfl_sync(FULL_WARP, place, leader);
                const u32 same = __ballot_sync(FULL_WARP, inside && place == common);
                if (lane_id() == leader) atomicAdd(&own[common], static_cast<u32>(__popc(same)));
                waiting &= ~same;
            }
        }
        __syncthreads();
        for (i32 place = static_cast<i32>(threadIdx.x); place < PLACES; place += blockDim.x) {
            if (own[place] != 0) atomicAdd(&counts[search * PLACES + place], static_cast<u64>(own[place]));
        }
        __syncthreads();
    }
}
