// Levels searched by one block alone: while the frontier has few edges, a level costs two round trips to
// memory and a barrier of the block, without waiting for any other block (docs/systems.md, P7).
#pragma once
#include "fused_level.cuh"
#include "fused_push.cuh"

// Two queues in shared memory, one read and one written, which alternate; three sizes and totals rotate, as
// they do for the grid.
struct SoloShared {
    vertex_t vertex[2][SOLO_EDGES];
    edge_t begin[2][SOLO_EDGES];
    u32 degree[2][SOLO_EDGES];
    u16 first[2][SOLO_EDGES];
    u32 size[3];
    Share sum[3];
};

// Writes a row of the trace: row 0 has the start time of the first level, row d the end time of level d;
// levels past the capacity are not recorded.
template <class Totals>
__device__ void trace_level(const Trace& trace, i32 depth, Step step, u64 frontier, const Totals& level,
                            Exchange exchange = NO_EXCHANGE) {
#if TRACE
    if (static_cast<u32>(depth) >= trace.capacity) return;
    i64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    trace.rows[depth] = TraceRow{step | exchange << 2,
                                 static_cast<i64>(frontier),
                                 static_cast<i64>(level.hub_hits),
                                 static_cast<i64>(level.looked),
                                 static_cast<i64>(level.examined),
                                 static_cast<i64>(level.from_host),
                                 now};
#endif
}

__device__ __forceinline__ BlockQueue solo_queue(SoloShared& shared, u32 parity, u32 turn,
                                                 vertex_t leaf_degree) {
    return BlockQueue{shared.vertex[parity], shared.begin[parity],   shared.degree[parity],
                      shared.first[parity],  &shared.size[turn % 3], leaf_degree};
}

// Returns the entry that has an edge, by its number.
__device__ __forceinline__ u32 entry_of(const u16* first, u32 n_entries, u32 edge) {
    u32 below = 0;
    for (u32 above = n_entries; above - below > 1;) {
        const u32 middle = (below + above) / 2;
        if (first[middle] <= edge) {
            below = middle;
        } else {
            above = middle;
        }
    }
    return below;
}

// Start of a search by one block: sources to claim, or a frontier that the grid has queued.
struct SoloStart {
    const vertex_t* sources;  // null if the frontier is queued
    const NarrowItem* narrow;
    u32 size;
    u64 frontier;
    i32 depth;  // of that frontier
    i32 depth_limit;
    u64 targets_wanted;  // stop when this many are found; 0: no targets
};

// Continues from `start` until the frontier is empty or has more edges than SOLO_EDGES, or the search is
// over.  The remaining frontier goes to the grid's `queue`, the totals of its level to `sum`, and the totals
// of all levels to `solo`.
template <class Queue>
__device__ void search_alone(const Graph& graph, const State& state, SoloShared& shared,
                             const SoloStart& start, const Queue& queue, Share& sum, Solo& solo,
                             const Trace& trace) {
    if (threadIdx.x == 0) {
        shared.size[0] = shared.size[1] = 0;
        shared.sum[0] = shared.sum[1] = Share{};
    }
    __syncthreads();
    Tally seeded;
    const BlockQueue first = solo_queue(shared, 0, 0, 0);
    if (start.sources) {
        for (u32 base = threadIdx.x - lane_id(); base < start.size; base += BLOCK_SIZE) {
            const u32 at = base + lane_id();
            const vertex_t from[1] = {NONE};
            const vertex_t to[1] = {at < start.size ? start.sources[at] : NONE};
            push_edges(graph, state, from, to, 0, first, seeded);
        }
    } else {
        for (u32 base = threadIdx.x - lane_id(); base < start.size; base += BLOCK_SIZE) {
            const u32 at = base + lane_id();
            const bool mine[1] = {at < start.size};
            const NarrowItem item = mine[0] ? start.narrow[at] : NarrowItem{0, NONE, 0};
            const vertex_t v[1] = {item.vertex};
            const edge_t begin[1] = {item.begin};
            const edge_t degree[1] = {static_cast<edge_t>(item.degree)};
            first.append(mine, v, begin, degree);
        }
    }
    add_tally(seeded, shared.sum[0]);
    __syncthreads();
    Share last = shared.sum[0];
    Solo total{0, last.vertices, last.edges, last.targets};
    u32 size = shared.size[0];
    u32 turn = 0;
    u64 frontier = start.sources ? last.vertices : start.frontier;
    i32 depth = start.depth;
    if (TRACE && threadIdx.x == 0 && depth == 0) trace_level(trace, 0, PUSHED_ALONE, 0, Level{});

    while (size > 0 && last.edges <= SOLO_EDGES && depth < start.depth_limit &&
           !(start.targets_wanted && total.targets >= start.targets_wanted)) {
        const u32 parity = turn++ & 1;
        const u32 lane = lane_id();
        ++depth;
        const BlockQueue next = solo_queue(shared, parity ^ 1, turn, graph.leaf_degree);
        Tally tally;
        // A thread takes an edge, whichever entry it belongs to, so that a long row takes no longer than
        // others.
        const u32 n_edges = BlockQueue::edges(size);
        const u32 n_entries = BlockQueue::entries(size);
        for (u32 base = threadIdx.x - lane; base < n_edges; base += BLOCK_SIZE) {
            const u32 edge = base + lane;
            const bool any = edge < n_edges;
            const u32 at = any ? entry_of(shared.first[parity], n_entries, edge) : 0;
            const edge_t place = shared.begin[parity][at] + (edge - shared.first[parity][at]);
            const vertex_t from[1] = {shared.vertex[parity][at]};
            const vertex_t to[1] = {any ? graph.out.neighbor(place, tally) : NONE};
            if (TRACE && any) tally.examined += 1;
            push_edges(graph, state, from, to, depth, next, tally);
        }
        add_tally(tally, shared.sum[turn % 3]);
        if (threadIdx.x == 0) {
            shared.sum[(turn + 1) % 3] = Share{};
            shared.size[(turn + 1) % 3] = 0;
        }
        __syncthreads();
        size = shared.size[turn % 3];
        last = shared.sum[turn % 3];
        total.vertices += last.vertices;
        total.edges += last.edges;
        total.targets += last.targets;
        if (TRACE && threadIdx.x == 0) trace_level(trace, depth, PUSHED_ALONE, frontier, last);
        frontier = last.vertices;
    }
    if (threadIdx.x == 0) {
        total.depth = depth;
        solo = total;
        sum.vertices = last.vertices;
        sum.edges = last.edges;
    }

    const u32 n_left = BlockQueue::entries(size);
    for (u32 base = threadIdx.x - lane_id(); base < n_left; base += BLOCK_SIZE) {
        const bool mine[1] = {base + lane_id() < n_left};
        const u32 at = mine[0] ? base + lane_id() : 0;
        const vertex_t v[1] = {shared.vertex[turn & 1][at]};
        const edge_t begin[1] = {shared.begin[turn & 1][at]};
        edge_t degree[1] = {static_cast<edge_t>(shared.degree[turn & 1][at])};
        if (EDGE_BITS == 64 && mine[0] && degree[0] == MOST_KEPT) {
            degree[0] = graph.out.offsets[v[0] + 1] - begin[0];
        }
        queue.append(mine, v, begin, degree);
    }
}
