// Shares of vertices and edges in the shortest paths from one source; their sums give betweenness.
//
// 1. count_paths, once for each level on the way out: a warp takes a vertex of the frontier.  Neighbours that
//    are new go into the next frontier, and neighbours on the next level add the vertex's number of paths to
//    theirs.
// 2. add_shares, once for each level on the way back, farthest first: a warp sums the shares that a vertex u
//    of this level receives from the vertices v of the next level,
//
//     share[u] = paths[u] * sum over v one level after u of (1 + share[v]) / paths[v],
//
//    and stores weight[u] = (1 + share[u]) / paths[u] for the previous level.
//
// Rows are in ascending order, so repeated edges are adjacent, and only the first of them counts.
//
// Invariants: before a search, `distance` is UNREACHED and `paths` 0; `order` has the frontiers one after
// another, and `n_found` grows by the number of vertices found.
//
// Reference: U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001;
// A. E. Sariyuece et al., Betweenness centrality on GPUs and heterogeneous architectures, GPGPU-6, 2013.
//
// Must agree with: rapids_trav/engines/cpu/bfs/shortest_path_shares.py.
#include "path_shares.cuh"

extern "C" __global__ void count_paths(const edge_t* __restrict__ row_offsets,
                                       const vertex_t* __restrict__ column_indices, i64 first, i64 n_frontier,
                                       i32 level, vertex_t* order, i32* distance, double* paths,
                                       u64* n_found) {
    for (i64 i = global_thread() / WARP; i < n_frontier; i += global_threads() / WARP) {
        const vertex_t u = order[first + i];
        const double own = paths[u];
        const i64 begin = row_offsets[u];
        const i64 end = row_offsets[u + 1];
        for (i64 edge = begin + lane_id(); edge < end; edge += WARP) {
            if (is_copy(column_indices, begin, edge)) continue;
            const vertex_t v = column_indices[edge];
            i32 seen = distance[v];
            if (seen == UNREACHED) {
                seen = atomicCAS(&distance[v], UNREACHED, level);
                if (seen == UNREACHED) {
                    order[atomicAdd(n_found, 1ull)] = v;
                    seen = level;
                }
            }
            if (seen == level) atomicAdd(&paths[v], own);
        }
    }
}

struct ShareArguments {
    const edge_t* row_offsets;
    const vertex_t* column_indices;
    i64 first;
    i64 n_level;
    i32 level;
    const vertex_t* order;
    const i32* distance;
    const double* paths;
    double* weight;
    double* of_vertices;
    double* of_edges;  // null: vertices only
    i64* reached;
};

extern "C" __global__ void add_shares(const ShareArguments given) {
    const edge_t* __restrict__ const row_offsets = given.row_offsets;
    const vertex_t* __restrict__ const column_indices = given.column_indices;
    const vertex_t* __restrict__ const order = given.order;
    const i32* __restrict__ const distance = given.distance;
    const double* __restrict__ const paths = given.paths;
    double* const weight = given.weight;
    double* const of_edges = given.of_edges;
    const i32 level = given.level;
    for (i64 i = global_thread() / WARP; i < given.n_level; i += global_threads() / WARP) {
        const vertex_t u = order[given.first + i];
        const double own = paths[u];
        const i64 begin = row_offsets[u];
        const i64 end = row_offsets[u + 1];
        double total = 0;
        for (i64 edge = begin + lane_id(); edge < end; edge += WARP) {
            const vertex_t v = column_indices[edge];
            if (distance[v] != level + 1 || is_copy(column_indices, begin, edge)) continue;
            total += weight[v];
            if (of_edges != nullptr) of_edges[edge] += own * weight[v];
        }
        total = warp_sum(total);
        if (lane_id() == 0) {
            const double share = own * total;
            weight[u] = (1 + share) / own;
            if (level > 0) {
                given.of_vertices[u] += share;
                given.reached[u] += 1;
            }
        }
    }
}
