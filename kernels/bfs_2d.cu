// One rank's work in a level of the search on a grid of ranks (rapids_trav/engines/multigpu/search2d.py).
//
// Vertices are local ids of 32 bits, even if the graph's ids have 64; offsets into the edges of a rank may be
// 64-bit.  A block is the set of vertices that one rank owns; an offset is the position of a vertex in its
// block.
//
// frontier_degrees: writes the frontier's degrees, which are then scanned.
// expand_claim: a thread for each edge of the frontier, which finds its source by binary search over the
//     scanned degrees, so that hubs and leaves cost the same.  It claims the edge's target by atomicOr and
//     appends it to its block's list, with one atomic for all lanes of a warp that append to the same list.
// pull_claim: makes the same claims bottom-up: each unclaimed vertex looks for one edge from the frontier,
//     first with its own thread and then with the whole warp.
// expand_keys: the baseline without claims; writes the same edges as keys for sorting.
// smallest_before: a thread for each edge; finds each vertex's smallest in-neighbour one level nearer or,
//     with `rank`, the smallest rank among these in-neighbours, which `best` then holds.
// settle: the owner marks the vertices that it receives as visited, unless they already are.
// list_to_bitmap, bitmap_to_list: convert between the two forms in which vertices are sent.
//
// Invariants: a bit of `claimed` and of `visited` is set once, by the thread that then appends the vertex, so
// that no list holds a vertex twice and a block's list, which has room for the block, never overflows.
// `scanned[k]` is the number of edges of frontier[0, k), and `total` that of the whole frontier.
//
// Reference: M. Bisson, M. Bernaschi, E. Mastrostefano, "Parallel Distributed Breadth First Search on the
// Kepler Architecture", IEEE Transactions on Parallel and Distributed Systems 27(7), 2016.
//
// Must agree with: tests/engines/multigpu/numpy_work.py.
#include "rows.cuh"

struct Edge {
    i32 from;
    i32 to;
};

// Returns edge number `at` of the frontier.  It belongs to the last vertex whose edges begin at or before it;
// this skips vertices without edges.
__device__ __forceinline__ Edge edge_of(const edge_t* offsets, const i32* targets, const i32* frontier,
                                        const i64* scanned, i64 frontier_size, i64 at) {
    i64 low = 0;
    i64 high = frontier_size;
    while (high - low > 1) {
        const i64 middle = low + (high - low) / 2;
        if (scanned[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const i32 from = frontier[low];
    return Edge{from, targets[static_cast<i64>(offsets[from]) + at - scanned[low]]};
}

// Sets a vertex's bit; returns true to exactly one caller.  The plain read saves later callers the atomic.
__device__ __forceinline__ bool set_bit(u32* bitmap, i32 vertex) {
    const u32 bit = 1u << (vertex & 31);
    if (*static_cast<volatile u32*>(bitmap + (vertex >> 5)) & bit) return false;
    return !(atomicOr(bitmap + (vertex >> 5), bit) & bit);
}

// Reserves a place at the end of list `which` for each active lane: one atomic for all lanes of a list.
__device__ __forceinline__ i32 list_place(i32* sizes, i32 which) {
    const u32 same = __match_any_sync(__activemask(), which);
    const i32 leader = __ffs(static_cast<i32>(same)) - 1;
    i32 base = 0;
    if (lane_id() == leader) base = atomicAdd(&sizes[which], __popc(same));
    return __shfl_sync(same, base, leader) + __popc(same & lanes_below());
}

// Appends a vertex to the list of its block.
__device__ __forceinline__ void append(i32* found, i32* sizes, i32 block, i32 vertex) {
    const i32 which = vertex / block;
    const i32 first = which * block;  // cannot overflow: not greater than a local id
    found[first + list_place(sizes, which)] = vertex - first;
}

// Writes a zero and the degree of each vertex of the frontier, whose running sums are `scanned`.
extern "C" __global__ void frontier_degrees(const edge_t* __restrict__ offsets,
                                            const i32* __restrict__ frontier, i64 frontier_size,
                                            i64* degrees) {
    for (i64 i = global_thread(); i <= frontier_size; i += global_threads()) {
        const i32 vertex = i == 0 ? NONE : frontier[i - 1];
        degrees[i] = vertex == NONE ? 0 : offsets[vertex + 1] - offsets[vertex];
    }
}

extern "C" __global__ void expand_claim(const edge_t* __restrict__ offsets, const i32* __restrict__ targets,
                                        const i32* __restrict__ frontier, const i64* __restrict__ scanned,
                                        i64 frontier_size, i64 total, i32 block, u32* claimed,
                                        i32* predecessor, i32* found, i32* sizes) {
    for (i64 at = global_thread(); at < total; at += global_threads()) {
        const Edge edge = edge_of(offsets, targets, frontier, scanned, frontier_size, at);
        if (!set_bit(claimed, edge.to)) continue;
        if (predecessor != nullptr) predecessor[edge.to] = edge.from;
        append(found, sizes, block, edge.to);
    }
}

extern "C" __global__ void pull_claim(const edge_t* __restrict__ offsets, const i32* __restrict__ sources,
                                      i64 n_to, const u32* __restrict__ frontier, i32 block, u32* claimed,
                                      i32* predecessor, i32* found, i32* sizes, u64* looked_at) {
    const auto in_frontier = [frontier](i32 u, i32) { return frontier[u >> 5] >> (u & 31) & 1; };
    i64 examined = 0;
    for (i64 first = global_thread() - lane_id(); first < n_to; first += global_threads()) {
        const i64 v = first + lane_id();  // the warp stays converged, as it reads long rows together
        const bool open = v < n_to && !(claimed[v >> 5] >> (v & 31) & 1);
        const i64 begin = open ? offsets[v] : 0;
        const i64 end = open ? offsets[v + 1] : 0;
        const i32 from = first_match(sources, begin, end, 0, in_frontier, examined);
        if (from == NONE) continue;
        const i32 vertex = static_cast<i32>(v);
        set_bit(claimed, vertex);
        if (predecessor != nullptr) predecessor[vertex] = from;
        append(found, sizes, block, vertex);
    }
    count(looked_at, 0, examined);
}

extern "C" __global__ void expand_keys(const edge_t* __restrict__ offsets, const i32* __restrict__ targets,
                                       const i32* __restrict__ frontier, const i64* __restrict__ scanned,
                                       i64 frontier_size, i64 total, i64* keys) {
    for (i64 at = global_thread(); at < total; at += global_threads()) {
        const Edge edge = edge_of(offsets, targets, frontier, scanned, frontier_size, at);
        keys[at] = static_cast<i64>(edge.to) << 32 | edge.from;
    }
}

// Before the call, `best` is greater than every id.
extern "C" __global__ void smallest_before(const edge_t* __restrict__ offsets,
                                           const i32* __restrict__ targets, i64 n_offsets, i64 n_edges,
                                           const i32* __restrict__ from_level,
                                           const i32* __restrict__ to_level, const i32* __restrict__ rank,
                                           i32* best) {
    for (i64 at = global_thread(); at < n_edges; at += global_threads()) {
        const i32 from = static_cast<i32>(lower_bound(offsets, n_offsets, static_cast<edge_t>(at + 1)) - 1);
        const i32 to = targets[at];
        if (from_level[from] < 0 || to_level[to] != from_level[from] + 1) continue;
        const i32 key = rank == nullptr ? from : rank[from];
        if (best[to] > key) atomicMin(&best[to], key);
    }
}

extern "C" __global__ void settle(const i32* __restrict__ received, i64 n_received, i32 finder, i32 level,
                                  u32* visited, i32* distance, i32* finders, i32* frontier, i32* sizes) {
    for (i64 i = global_thread(); i < n_received; i += global_threads()) {
        const i32 vertex = received[i];
        if (!set_bit(visited, vertex)) continue;
        distance[vertex] = level;
        if (finders != nullptr) finders[vertex] = finder;
        frontier[list_place(sizes, 0)] = vertex;
    }
}

extern "C" __global__ void list_to_bitmap(const i32* __restrict__ list, i64 n_listed, u32* bitmap) {
    for (i64 i = global_thread(); i < n_listed; i += global_threads()) {
        atomicOr(bitmap + (list[i] >> 5), 1u << (list[i] & 31));
    }
}

extern "C" __global__ void bitmap_to_list(const u32* __restrict__ bitmap, i64 n_words, i32* list,
                                          i32* sizes) {
    for (i64 word = global_thread(); word < n_words; word += global_threads()) {
        u32 bits = bitmap[word];
        if (bits == 0) continue;
        i32 place = atomicAdd(&sizes[0], __popc(bits));
        for (; bits != 0; bits &= bits - 1) {
            list[place++] = static_cast<i32>(word) * 32 + __ffs(static_cast<i32>(bits)) - 1;
        }
    }
}
