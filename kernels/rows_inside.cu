// Finds the rows of an edge list that have both ends among some chosen vertices (an induced subgraph).  Its
// cost depends on the rows of the chosen vertices, not on the length of the list, as an index has the rows by
// their source.
//
// 1. count_inside: counts the rows of the listed sources, and those whose destination is chosen as well.
// 2. list_inside: writes the numbers of the latter, in no particular order.
//
// Entry v of the index holds the destinations of the rows whose source is v, and the numbers of these rows.
// Each source has a warp in every block of a column of blocks (those with the same blockIdx.x); these warps
// divide the entries of the source.
//
// Invariant: `distances` are 0 or more for exactly the listed sources, each of which is listed once.
//
// Must agree with: rows_inside in tests/kernel_references.py.
#include "level.cuh"

enum Count { READ, INSIDE, LISTED };

// Calls each(entry) for the entries of the listed rows whose destination is chosen; returns the entries read.
template <class Each>
__device__ __forceinline__ i64 over_inside(const edge_t* offsets, const vertex_t* destinations,
                                           const i32* distances, const vertex_t* sources, i64 n_sources,
                                           Each each) {
    const i64 stride = static_cast<i64>(WARP) * gridDim.y;
    i64 read = 0;
    for (i64 i = global_thread() / WARP; i < n_sources; i += global_threads() / WARP) {
        const i64 end = offsets[sources[i] + 1];
        for (i64 entry = offsets[sources[i]] + WARP * blockIdx.y + lane_id(); entry < end; entry += stride) {
            read += 1;
            if (distances[destinations[entry]] != UNREACHED) each(entry);
        }
    }
    __syncwarp();
    return read;
}

extern "C" __global__ void count_inside(const edge_t* __restrict__ offsets,
                                        const vertex_t* __restrict__ destinations,
                                        const i32* __restrict__ distances,
                                        const vertex_t* __restrict__ sources, i64 n_sources, u64* counters) {
    i64 inside = 0;
    const i64 read =
        over_inside(offsets, destinations, distances, sources, n_sources, [&](i64) { inside += 1; });
    count(counters, READ, read);
    count(counters, INSIDE, inside);
}

extern "C" __global__ void list_inside(const edge_t* __restrict__ offsets,
                                       const vertex_t* __restrict__ destinations,
                                       const edge_t* __restrict__ numbers, const i32* __restrict__ distances,
                                       const vertex_t* __restrict__ sources, i64 n_sources, u64* counters,
                                       edge_t* listed) {
    over_inside(offsets, destinations, distances, sources, n_sources,
                [&](i64 entry) { listed[atomicAdd(&counters[LISTED], u64{1})] = numbers[entry]; });
}
