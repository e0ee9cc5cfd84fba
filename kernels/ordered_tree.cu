// The tree of smallest predecessors, where "smallest" means first in an order other than that of the rows.
//
// Of the in-neighbours of a vertex at distance d > 0 that are at d - 1, its predecessor is the one whose
// place in `order` is the smallest.  It depends only on the distances, not on the variant of the search.
//
// 1. list_levels: writes distances in one byte each, so that more of them stay in the caches, adds up the
//    edges of each level, and sets all places to NONE.
// 2. offer_predecessors: reads rows.  If rows are symmetric, an edge between two levels can be found from
//    either end, and the rows of one level may have a thousand times as many edges as those of the level
//    before.  So the places of a level are pushed from the level before if that has far fewer edges, and
//    otherwise pulled from the level's own rows; rows that neither needs are skipped.  Warps take spans of
//    edges of equal size, so none waits for a hub.
// 3. name_predecessors: replaces places by vertices.
//
// Invariant: the place of a vertex is written either by pushes alone or from its own row alone.  NONE is
// greater than every place if read as unsigned.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
//
// Must agree with: ordered_predecessors_plain, which has a thread for each vertex.
#include "rows.cuh"
#include "unsigned_min.cuh"

constexpr i32 FAR = 255;         // byte of a distance from 255 on, and of an unreached vertex
constexpr i32 LEVELS = FAR + 1;  // sums of edges of each search
constexpr i32 AT_ONCE = 4;       // loads in flight
constexpr i64 SPAN = WARP * 32;  // edges that a warp takes at a time; the host starts a warp for each

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef PUSH_COST
#define PUSH_COST 8  // a pushed edge costs as much as this many pulled ones: it is an atomic operation
#endif

// Each blockIdx.y has its own search.
extern "C" __global__ void list_levels(const edge_t* __restrict__ row_offsets, i64 n_vertices, i64 n_searches,
                                       const i32* __restrict__ distances, u8* near, u64* level_edges,
                                       vertex_t* places) {
    __shared__ u64 own[LEVELS];
    for (i64 search = blockIdx.y; search < n_searches; search += gridDim.y) {
        const i64 begin = search * n_vertices;
        for (i32 level = static_cast<i32>(threadIdx.x); level < LEVELS; level += blockDim.x) own[level] = 0;
        __syncthreads();
        for (i64 base = global_thread() - lane_id(); base < n_vertices; base += global_threads()) {
            const i64 v = base + lane_id();
            const bool inside = v < n_vertices;
            const i32 distance = inside ? distances[begin + v] : UNREACHED;
            const i32 level = 0 <= distance && distance < FAR ? distance : FAR;
            const i64 edges = distance == UNREACHED ? 0 : degree(row_offsets, static_cast<vertex_t>(v));
            if (inside) {
                near[begin + v] = static_cast<u8>(level);
                places[begin + v] = NONE;
            }
            u32 waiting = __ballot_sync(FULL_WARP, edges > 0);
            while (waiting != 0) {  // most lanes have one of a few levels: one addition for each of these
                const i32 leader = __ffs(static_cast<i32>(waiting)) - 1;
                const i32 common = __shfl_sync(FULL_WARP, level, leader);
                count(own, common, level == common ? edges : 0);
                waiting &= ~__ballot_sync(FULL_WARP, level == common);
            }
        }
        __syncthreads();
        for (i32 level = static_cast<i32>(threadIdx.x); level < LEVELS; level += blockDim.x) {
            if (own[level] != 0) atomicAdd(&level_edges[search * LEVELS + level], own[level]);
        }
        __syncthreads();
    }
}

struct OfferArguments {
    const edge_t* row_offsets;
    const vertex_t* column_indices;
    i64 n_vertices;
    i64 n_edges;
    i64 n_searches;
    i64 symmetric;  // 0: edges are found from their destination alone
    const i32* distances;
    const u8* near;
    const u64* level_edges;
    const vertex_t* order;
    vertex_t* places;
    u64* examined;  // edges read, null: they are not counted
};

// Distances of one search.
struct Levels {
    const i32* distance;
    const u8* near;

    // Returns whether `v`, whose byte is given, is at a level.
    __device__ __forceinline__ bool is_at(vertex_t v, u8 byte, i32 level) const {
        return level < FAR ? byte == level : byte == FAR && distance[v] == level;
    }
};

// How the edges of one search are read; entry FAR stands for all levels from there on.
struct Directions {
    bool pulled[LEVELS];  // from a level's own rows
    bool pushes[LEVELS];  // to the next level
};

__device__ __forceinline__ void choose(Directions& directions, const u64* level_edges, bool symmetric) {
    const auto pushes = [&](i32 level) {
        return symmetric && level >= 0 && level + 1 < FAR &&
               PUSH_COST * level_edges[level] < level_edges[level + 1];
    };
    for (i32 level = static_cast<i32>(threadIdx.x); level < LEVELS; level += blockDim.x) {
        directions.pulled[level] = level > 0 && !pushes(level - 1);
        directions.pushes[level] = pushes(level);
    }
}

// Returns the last of the rows that begins at or before `edge`.
__device__ __forceinline__ i64 row_of(const edge_t* row_offsets, i64 n_vertices, i64 edge) {
    return lower_bound(row_offsets, n_vertices, static_cast<edge_t>(edge + 1)) - 1;
}

// The rows of a warp's lanes, as far as they lie in its span and are read: an entry for each edge of them.
struct LaneRows {
    edge_t shift;  // from an entry to its edge
    i32 end;       // of the lane's entries
    i32 level;
    bool pulled;
    bool pushes;
    vertex_t place;  // of a row that pushes
};

// Returns the lane whose row has an entry.
__device__ __forceinline__ i32 owner_of(i32 end, i32 entry) {
    i32 owner = 0;
    for (i32 step = WARP / 2; step > 0; step /= 2) {
        if (__shfl_sync(FULL_WARP, end, owner + step - 1) <= entry) owner += step;
    }
    return owner;
}

// Reads the entries of the lanes' rows; `best` has the smallest place found for each of them.
__device__ __forceinline__ void offer(const OfferArguments& given, const Levels& levels, const LaneRows& own,
                                      i32 total, vertex_t* best, vertex_t* places) {
    const vertex_t* __restrict__ order = given.order;
    for (i32 base = 0; base < total; base += AT_ONCE * WARP) {
        i32 owner[AT_ONCE];
        vertex_t neighbor[AT_ONCE];
        u8 byte[AT_ONCE];
        vertex_t offered[AT_ONCE];
        bool reached[AT_ONCE];
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            const i32 next = base + i * WARP + lane_id();
            const i32 entry = next < total ? next : total - 1;  // offering the last one twice is harmless
            owner[i] = owner_of(own.end, entry);
            neighbor[i] = __ldcs(&given.column_indices[__shfl_sync(FULL_WARP, own.shift, owner[i]) + entry]);
        }
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) byte[i] = levels.near[neighbor[i]];
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            const i32 level = __shfl_sync(FULL_WARP, own.level, owner[i]);
            const bool pulled = __shfl_sync(FULL_WARP, own.pulled, owner[i]);
            const bool pushes = __shfl_sync(FULL_WARP, own.pushes, owner[i]);
            const bool nearer = pulled && levels.is_at(neighbor[i], byte[i], level - 1);
            offered[i] = nearer ? order[neighbor[i]] : NONE;
            reached[i] = pushes && levels.is_at(neighbor[i], byte[i], level + 1);
        }
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            const vertex_t place = __shfl_sync(FULL_WARP, own.place, owner[i]);
            keep_smallest(&best[owner[i]], offered[i]);
            if (reached[i]) keep_smallest(&places[neighbor[i]], place);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE) offer_predecessors(const OfferArguments given) {
    __shared__ Directions directions;
    __shared__ vertex_t best_of_all[BLOCK_SIZE];
    vertex_t* const best = &best_of_all[threadIdx.x - lane_id()];
    const edge_t* __restrict__ row_offsets = given.row_offsets;
    const i64 stride = SPAN * (global_threads() / WARP);
    u64 examined = 0;
    for (i64 search = blockIdx.y; search < given.n_searches; search += gridDim.y) {
        const i64 of_search = search * given.n_vertices;
        const Levels levels{given.distances + of_search, given.near + of_search};
        vertex_t* const places = given.places + of_search;
        __syncthreads();  // all warps have finished the search before
        choose(directions, given.level_edges + search * LEVELS, given.symmetric != 0);
        __syncthreads();
        for (i64 begin = SPAN * (global_thread() / WARP); begin < given.n_edges; begin += stride) {
            const i64 end = begin + SPAN < given.n_edges ? begin + SPAN : given.n_edges;
            const i64 bound = row_of(row_offsets, given.n_vertices, lane_id() == 0 ? begin : end - 1);
            const i64 last = __shfl_sync(FULL_WARP, bound, 1);
            for (i64 first = __shfl_sync(FULL_WARP, bound, 0); first <= last; first += WARP) {
                const i64 v = first + lane_id();
                const i32 byte = v <= last ? levels.near[v] : FAR;
                const i32 level = byte < FAR || v > last ? byte : levels.distance[v];
                LaneRows own{};
                own.level = level;
                own.pulled = v <= last && level != UNREACHED && directions.pulled[byte];
                own.pushes = v <= last && level != UNREACHED && directions.pushes[byte];
                own.place = own.pushes ? given.order[v] : NONE;
                if (own.pulled || own.pushes) {
                    const i64 from = row_offsets[v] < begin ? begin : row_offsets[v];
                    const i64 to = row_offsets[v + 1] > end ? end : row_offsets[v + 1];
                    own.end = to > from ? static_cast<i32>(to - from) : 0;
                    own.shift = static_cast<edge_t>(from);
                }
                const i32 length = own.end;
                for (i32 step = 1; step < WARP; step *= 2) {
                    const i32 below = __shfl_up_sync(FULL_WARP, own.end, step);
                    if (lane_id() >= step) own.end += below;
                }
                own.shift -= static_cast<edge_t>(own.end - length);
                const i32 total = __shfl_sync(FULL_WARP, own.end, WARP - 1);
                if (total == 0) continue;
                best[lane_id()] = NONE;
                __syncwarp();
                offer(given, levels, own, total, best, places);
                __syncwarp();
                const vertex_t found = best[lane_id()];
                if (found != NONE) keep_smallest(&places[v], found);  // others may have the rest of the row
                examined += static_cast<u64>(total);
            }
        }
    }
    if (given.examined != nullptr && lane_id() == 0) atomicAdd(given.examined, examined);
}

extern "C" __global__ void name_predecessors(vertex_t* places, i64 n, const vertex_t* __restrict__ rank) {
    for (i64 i = global_thread(); i < n; i += global_threads()) {
        const vertex_t place = places[i];
        if (place != NONE) places[i] = rank[place];
    }
}

// The plain kernel: a thread for each vertex.
extern "C" __global__ void ordered_predecessors_plain(const edge_t* __restrict__ row_offsets,
                                                      const vertex_t* __restrict__ column_indices,
                                                      i64 n_vertices, const i32* __restrict__ distance,
                                                      const vertex_t* __restrict__ order,
                                                      vertex_t* predecessor) {
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        vertex_t first = NONE;
        for (i64 edge = row_offsets[v]; edge < row_offsets[v + 1] && distance[v] > 0; ++edge) {
            const vertex_t u = column_indices[edge];
            if (distance[u] == distance[v] - 1 && (first == NONE || order[u] < order[first])) first = u;
        }
        predecessor[v] = first;
    }
}
