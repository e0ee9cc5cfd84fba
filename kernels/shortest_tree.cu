// Derives the predecessors of weighted shortest paths from the distances.
//
// An edge u -> v is tight if distance[u] + weight == distance[v].  tight_predecessors finds, for every
// reached vertex v, the smallest u that is nearer and has a tight edge to v; it depends only on the
// distances, not on the order in which edges are read.
//
// Most vertices have one tight edge, so stopping at it would save half of the reads.  Instead, edges are
// distributed in spans of equal size, regardless of their rows: no block waits for a hub, and reads are
// coalesced.
//
// Invariant: predecessors are NONE before, which is greater than every id if read as unsigned.
//
// Reference: R. Ahuja, T. Magnanti, J. Orlin, Network Flows, 1993, section 5.2 (optimality conditions of
// shortest paths).
//
// Must agree with: tight_predecessors_plain, which has a thread for each vertex.
#include "path_weights.cuh"
#include "rows.cuh"
#include "unsigned_min.cuh"

constexpr i32 AT_ONCE = 4;       // loads in flight
constexpr i64 SPAN = WARP * 32;  // edges that a warp takes at a time; the host starts a warp for each

// Returns the last of the rows [first, last] that begins at or before `edge`.
__device__ __forceinline__ i64 row_of(const edge_t* row_offsets, i64 first, i64 last, i64 edge) {
    return first + lower_bound(row_offsets + first, last + 1 - first, static_cast<edge_t>(edge + 1)) - 1;
}

extern "C" __global__ void tight_predecessors(const edge_t* __restrict__ row_offsets,
                                              const vertex_t* __restrict__ column_indices,
                                              const weight_t* __restrict__ weights, i64 n_vertices,
                                              i64 n_edges, const distance_t* __restrict__ distance,
                                              distance_t unreached, vertex_t* predecessors) {
    const i64 stride = SPAN * (global_threads() / WARP);
    for (i64 begin = SPAN * (global_thread() / WARP); begin < n_edges; begin += stride) {
        const i64 end = begin + SPAN < n_edges ? begin + SPAN : n_edges;
        const i64 bound = row_of(row_offsets, 0, n_vertices - 1, lane_id() == 0 ? begin : end - 1);
        const i64 first = __shfl_sync(FULL_WARP, bound, 0);
        const i64 last = __shfl_sync(FULL_WARP, bound, 1);
        for (i64 base = begin + lane_id(); base - lane_id() < end; base += AT_ONCE * WARP) {
            i64 edge[AT_ONCE];
            vertex_t from[AT_ONCE];
            weight_t weight[AT_ONCE];
            distance_t offered[AT_ONCE];
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) {
                const i64 next = base + i * WARP;
                edge[i] = next < end ? next : end - 1;  // reading the last edge twice is harmless
                from[i] = column_indices[edge[i]];
                weight[i] = weights[edge[i]];
            }
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) offered[i] = distance[from[i]];
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) {
                const i64 v = row_of(row_offsets, first, last, edge[i]);
                const distance_t own = distance[v];
                const bool nearer = offered[i] < own && own != unreached;
                if (nearer && offered[i] + weight[i] == own) keep_smallest(&predecessors[v], from[i]);
            }
        }
    }
}

// The plain kernel: a thread for each vertex.
extern "C" __global__ void tight_predecessors_plain(const edge_t* __restrict__ row_offsets,
                                                    const vertex_t* __restrict__ column_indices,
                                                    const weight_t* __restrict__ weights, i64 n_vertices,
                                                    const distance_t* __restrict__ distance,
                                                    distance_t unreached, vertex_t* predecessors) {
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        vertex_t smallest = NONE;
        for (i64 edge = row_offsets[v]; edge < row_offsets[v + 1] && distance[v] != unreached; ++edge) {
            const vertex_t u = column_indices[edge];
            const bool tight = distance[u] < distance[v] && distance[u] + weights[edge] == distance[v];
            if (tight && (smallest == NONE || u < smallest)) smallest = u;
        }
        predecessors[v] = smallest;
    }
}
