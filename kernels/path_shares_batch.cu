// Shares of vertices and edges in the shortest paths from 32 sources at once, one source to a lane.
//
// The sums are those of path_shares.cu.  A search is a bit of a word and a lane of a warp, so that an edge is
// read once for all searches that follow it on the same level, and its 32 numbers of paths or weights are
// adjacent in memory.
//
// 1. On the way out, once for each level: push_paths, with a warp for each vertex of a frontier, adds the
//    vertex's numbers of paths to those of the neighbours that are new, and sets their bits in `next`;
//    settle_paths makes them the frontier.
// 2. On the way back, farthest level first: gather_shares, with a warp for each vertex, marks in `here` the
//    searches that found it on this level, and sums the shares that it receives from the vertices `ahead`.
//
// Heavy rows have their own kernels, with gridDim.y blocks for each row; gather_heavy adds to `totals`, which
// share_heavy turns into shares.
//
// Invariants: `open` has the bits of the searches that have not reached a vertex, and changes only in
// settle_paths; a vertex's `paths` are 0 until some search reaches it.  Lanes without a source have no bit
// in `open` and never any elsewhere.  `totals` is 0 before and after each level.  Rows are in ascending
// order, so repeated edges are adjacent, and only the first of them counts.
//
// Reference: U. Brandes, A faster algorithm for betweenness centrality, J. Math. Sociology 25(2), 2001;
// M. Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, PVLDB 8(4), 2014.
//
// Must agree with: path_shares.cu, source by source.
#include "path_shares.cuh"

#ifndef HEAVY_DEGREE
#define HEAVY_DEGREE 2048  // from this degree on, a row belongs to the kernels for heavy rows
#endif

struct Row {
    vertex_t vertex;
    i64 begin;
    i64 end;
};

__device__ __forceinline__ Row row_of(const edge_t* __restrict__ row_offsets, vertex_t vertex) {
    return {vertex, row_offsets[vertex], row_offsets[vertex + 1]};
}

__device__ __forceinline__ i64 warp_of_grid() {
    return global_thread() / WARP;
}

__device__ __forceinline__ i64 warps_of_grid() {
    return global_threads() / WARP;
}

// First edge and stride of this warp among those of the blocks with the same blockIdx.x.
__device__ __forceinline__ i64 first_of_column() {
    return static_cast<i64>(blockIdx.y) * blockDim.x + threadIdx.x - lane_id();
}

__device__ __forceinline__ i64 stride_of_column() {
    return static_cast<i64>(gridDim.y) * blockDim.x;
}

// An edge and the searches that continue along it; if there are none, the edge is to be ignored.
struct Followed {
    vertex_t neighbor;
    u32 searches;
    i64 edge;
};

constexpr i32 AT_ONCE = 4;  // edges whose loads are under way together

// Visits the edges of a row whose neighbour has some of the bits `wanted` in `words`, a bit for each search.
// The lanes call meet(neighbor, searches) for an edge each, then the whole warp follow(edges) for a few of
// them.
template <class Meet, class Follow>
__device__ __forceinline__ void follow_row(const Row& row, i64 first, i64 stride,
                                           const vertex_t* __restrict__ column_indices, const u32* words,
                                           u32 wanted, Meet meet, Follow follow) {
    for (i64 base = row.begin + first; base < row.end; base += stride) {
        const i64 edge = base + lane_id();
        vertex_t neighbor = 0;
        u32 searches = 0;
        if (edge < row.end) {
            neighbor = column_indices[edge];
            if (!is_copy(column_indices, row.begin, edge)) searches = words[neighbor] & wanted;
        }
        if (searches != 0) meet(neighbor, searches);
        u32 lanes = __ballot_sync(FULL_WARP, searches != 0);
        while (lanes != 0) {
            Followed edges[AT_ONCE];
#pragma unroll
            for (Followed& followed : edges) {
                const i32 lane = lanes != 0 ? __ffs(static_cast<i32>(lanes)) - 1 : 0;
                const u32 some = __shfl_sync(FULL_WARP, searches, lane);
                followed = {__shfl_sync(FULL_WARP, neighbor, lane), lanes != 0 ? some : 0, base + lane};
                lanes &= lanes - 1;
            }
            follow(edges);
        }
    }
}

__device__ __forceinline__ bool has(u32 searches) {
    return (searches >> lane_id() & 1) != 0;
}

__device__ __forceinline__ i64 number(vertex_t vertex) {
    return static_cast<i64>(vertex) * WARP + lane_id();
}

// Puts every search at its source, on level 0.
extern "C" __global__ void begin_paths(const vertex_t* __restrict__ sources, i64 n_sources, u32* next,
                                       double* paths) {
    for (i64 i = global_thread(); i < n_sources; i += global_threads()) {
        atomicOr(&next[sources[i]], 1u << i);
        paths[static_cast<i64>(sources[i]) * WARP + i] = 1;
    }
}

__device__ __forceinline__ void push_row(const Row& row, i64 first, i64 stride,
                                         const vertex_t* __restrict__ column_indices, u32 searches,
                                         const u32* open, u32* next, double* paths) {
    const double own = paths[number(row.vertex)];
    follow_row(
        row, first, stride, column_indices, open, searches,
        [&](vertex_t v, u32 reached) {
            const u32 known = *static_cast<volatile u32*>(&next[v]);  // saves most of the atomics
            if ((reached & ~known) != 0) atomicOr(&next[v], reached);
        },
        [&](const Followed(&edges)[AT_ONCE]) {
#pragma unroll
            for (const Followed& one : edges) {
                if (has(one.searches)) atomicAdd(&paths[number(one.neighbor)], own);
            }
        });
}

extern "C" __global__ void push_paths(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ column_indices, i64 n_vertices,
                                      const u32* __restrict__ frontier, const u32* __restrict__ open,
                                      u32* next, double* paths) {
    for (i64 i = warp_of_grid(); i < n_vertices; i += warps_of_grid()) {
        const u32 searches = frontier[i];
        if (searches == 0) continue;
        const Row row = row_of(row_offsets, static_cast<vertex_t>(i));
        if (row.end - row.begin >= HEAVY_DEGREE) continue;
        push_row(row, 0, WARP, column_indices, searches, open, next, paths);
    }
}

extern "C" __global__ void push_paths_heavy(const edge_t* __restrict__ row_offsets,
                                            const vertex_t* __restrict__ column_indices,
                                            const vertex_t* __restrict__ heavy, i64 n_heavy,
                                            const u32* __restrict__ frontier, const u32* __restrict__ open,
                                            u32* next, double* paths) {
    for (i64 i = blockIdx.x; i < n_heavy; i += gridDim.x) {
        const u32 searches = frontier[heavy[i]];
        if (searches == 0) continue;
        const Row row = row_of(row_offsets, heavy[i]);
        push_row(row, first_of_column(), stride_of_column(), column_indices, searches, open, next, paths);
    }
}

// Ends a level; with level 0 and the sources in `next`, begins the searches.
extern "C" __global__ void settle_paths(i64 n_vertices, i32 level, u32* next, u32* frontier, u32* open,
                                        i32* distance, u64* counters) {
    i64 found = 0;
    for (i64 i = warp_of_grid(); i < n_vertices; i += warps_of_grid()) {
        const u32 reached = next[i];
        __syncwarp();  // every lane has read `next`
        if (lane_id() == 0) {
            frontier[i] = reached;
            if (reached != 0) {
                next[i] = 0;
                open[i] &= ~reached;
                found += __popc(reached);
            }
        }
        if (has(reached)) distance[number(static_cast<vertex_t>(i))] = level;
    }
    count(counters, FOUND, found);
}

struct GatherSharesArguments {
    const edge_t* row_offsets;
    const vertex_t* column_indices;
    i64 n_vertices;
    const vertex_t* heavy;
    i64 n_heavy;
    i32 level;
    const i32* distance;
    const double* paths;
    const u32* ahead;  // searches that found the vertex on the next level
    u32* here;         // ... and on this one
    double* weight;    // (1 + share) / paths
    double* totals;    // (n_heavy, 32)
    double* of_vertices;
    double* of_edges;  // null: vertices only
    i64* reached;
};

// Returns what this lane's search receives along a part of the row.
__device__ __forceinline__ double gather_row(const GatherSharesArguments& given, const Row& row, i64 first,
                                             i64 stride, u32 searches) {
    double total = 0;
    const double own = given.of_edges != nullptr ? given.paths[number(row.vertex)] : 0;
    follow_row(
        row, first, stride, given.column_indices, given.ahead, searches, [](vertex_t, u32) {},
        [&](const Followed(&edges)[AT_ONCE]) {
            double weight[AT_ONCE];
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) {
                weight[i] = has(edges[i].searches) ? given.weight[number(edges[i].neighbor)] : 0;
            }
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) total += weight[i];
            if (given.of_edges == nullptr) return;
            for (i32 i = 0; i < AT_ONCE && edges[i].searches != 0; ++i) {
                const double share = warp_sum(own * weight[i]);
                if (lane_id() == 0) given.of_edges[edges[i].edge] += share;
            }
        });
    return total;
}

__device__ __forceinline__ void add_shares_of(const GatherSharesArguments& given, vertex_t u, u32 searches,
                                              double total) {
    double share = 0;
    if (has(searches)) {
        const double own = given.paths[number(u)];
        share = own * total;
        given.weight[number(u)] = (1 + share) / own;
    }
    if (given.level == 0) return;  // a source: paths that start at it do not pass through it
    share = warp_sum(share);
    if (lane_id() == 0) {
        given.of_vertices[u] += share;
        given.reached[u] += __popc(searches);
    }
}

extern "C" __global__ void gather_shares(const GatherSharesArguments given) {
    for (i64 i = warp_of_grid(); i < given.n_vertices; i += warps_of_grid()) {
        const vertex_t u = static_cast<vertex_t>(i);
        const u32 searches = __ballot_sync(FULL_WARP, given.distance[number(u)] == given.level);
        if (lane_id() == 0) given.here[i] = searches;
        if (searches == 0) continue;
        const Row row = row_of(given.row_offsets, u);
        if (row.end - row.begin >= HEAVY_DEGREE) continue;
        add_shares_of(given, u, searches, gather_row(given, row, 0, WARP, searches));
    }
}

extern "C" __global__ void gather_heavy(const GatherSharesArguments given) {
    for (i64 i = blockIdx.x; i < given.n_heavy; i += gridDim.x) {
        const u32 searches = given.here[given.heavy[i]];
        if (searches == 0) continue;
        const Row row = row_of(given.row_offsets, given.heavy[i]);
        const double total = gather_row(given, row, first_of_column(), stride_of_column(), searches);
        if (total != 0) atomicAdd(&given.totals[i * WARP + lane_id()], total);
    }
}

extern "C" __global__ void share_heavy(const GatherSharesArguments given) {
    for (i64 i = warp_of_grid(); i < given.n_heavy; i += warps_of_grid()) {
        const u32 searches = given.here[given.heavy[i]];
        if (searches == 0) continue;
        double* const total = &given.totals[i * WARP + lane_id()];
        add_shares_of(given, given.heavy[i], searches, *total);
        *total = 0;
    }
}

// Adds the number of vertices that each source reaches besides itself.
extern "C" __global__ void count_reached(const vertex_t* __restrict__ sources, i64 n_sources, i64 n_vertices,
                                         const i32* __restrict__ distance, i64* reached) {
    u64 found = 0;
    for (i64 i = warp_of_grid(); i < n_vertices; i += warps_of_grid()) {
        if (distance[number(static_cast<vertex_t>(i))] > 0) found += 1;
    }
    if (lane_id() < n_sources && found != 0) {
        atomicAdd(reinterpret_cast<u64*>(&reached[sources[lane_id()]]), found);
    }
}
