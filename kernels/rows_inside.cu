// The rows of an edge list that have both ends among some vertices, by an index of the rows by their source.
//
// count_inside: counts the rows of the listed sources, and those whose destination is chosen as well.
// list_inside: writes the numbers of the latter, in no order.
//
// Row v of the index holds the destinations of v's rows and the numbers of these rows.  Warps divide the
// sources, and the warps of the blocks above each other divide a source's rows.
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
