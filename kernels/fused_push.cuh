// Top-down step (Merrill, Garland and Grimshaw, PPoPP 2012, "scan gathering"): a warp concatenates the edges
// of up to 32 vertices and takes 32 edges at a time, so that all its lanes are busy, whatever the degrees.
// Hubs are divided among all warps (fused_hubs.cuh).
#pragma once
#include "fused_hubs.cuh"

// The largest degree that a queue in shared memory stores; it stands for this degree or more.  It must be
// greater than SOLO_EDGES.
#ifndef MOST_KEPT
#define MOST_KEPT 0x7fffffff
#endif

// Appends to the queues that the whole grid reads in the next level.
struct GridQueue {
    NarrowItem* narrow;
    HubItem* hubs;
    Level* level;
    vertex_t leaf_degree;
    bool eager;  // claim without reading first: faster while few edges lead to visited vertices

    // Appends a warp's vertices, N for each lane, with one reservation in each of the two queues; both
    // reservations are in flight together.
    template <i32 N>
    __device__ __forceinline__ void append(const bool (&fresh)[N], const vertex_t (&v)[N],
                                           const edge_t (&first)[N], const edge_t (&degree)[N]) const {
        u32 few[N];
        u32 many[N];
        u32 n_few = 0;
        u32 n_many = 0;
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            few[k] = __ballot_sync(FULL_WARP, fresh[k] && degree[k] > leaf_degree && degree[k] <= HUB_DEGREE);
            many[k] = __ballot_sync(FULL_WARP, fresh[k] && degree[k] > HUB_DEGREE);
            n_few += __popc(few[k]);
            n_many += __popc(many[k]);
        }
        u32 chunks[N];
        u32 before[N];
        u32 n_chunks_here = 0;
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            chunks[k] = before[k] = 0;
            if (!many[k]) continue;
            chunks[k] = many[k] >> lane_id() & 1 ? static_cast<u32>((degree[k] - 1) / HUB_DEGREE + 1) : 0;
            const u32 inclusive = warp_scan(chunks[k]);
            before[k] = n_chunks_here + inclusive - chunks[k];
            n_chunks_here += __shfl_sync(FULL_WARP, inclusive, WARP - 1);
        }
        u64 place = 0;
        u64 packed = 0;
        if (n_few && lane_id() == 0) place = reserve(&level->narrow, n_few);
        if (n_many && lane_id() == 0)
            packed = reserve(&level->hubs, static_cast<u64>(n_many) << CHUNK_BITS | n_chunks_here);
        place = __shfl_sync(FULL_WARP, place, 0);
        packed = __shfl_sync(FULL_WARP, packed, 0);
        u64 hub = n_hubs(packed);
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            if (few[k] >> lane_id() & 1) {
                narrow[place + __popc(few[k] & lanes_below())] =
                    NarrowItem{first[k], v[k], static_cast<u32>(degree[k])};
            }
            if (many[k] >> lane_id() & 1) {
                hubs[hub + __popc(many[k] & lanes_below())] = HubItem{n_chunks(packed) + before[k], v[k]};
            }
            place += __popc(few[k]);
            hub += __popc(many[k]);
        }
    }
};

// Marks the vertices in a bitmap, which the next step reads.  Their row offsets are not loaded, and only
// settle_map() later makes them visited and writes their distances: done vertex by vertex, both would take
// the memory system longer than the claims.
struct FrontierMap {
    u32* bitmap;
};

// Edges of a hub that a lane has in flight at once.
template <class Queue>
constexpr i32 HUB_UNROLL = UNROLL;
template <>
constexpr i32 HUB_UNROLL<FrontierMap> = MAP_UNROLL;

// A queue in shared memory, with the data that the next level needs to start without look-ups.  The edges of
// its entries are numbered, from entry to entry, so that each thread can find its own.
struct BlockQueue {
    vertex_t* vertex;
    edge_t* begin;
    u32* degree;
    u16* first;  // number of the entry's first edge, while the queue has at most SOLO_EDGES edges
    u32* size;
    vertex_t leaf_degree;
    static constexpr bool eager = true;

    // A size is the number of entries and, above it, that of edges, so that one atomic reserves both.
    static constexpr u32 ENTRY_BITS = 11;
    static_assert(SOLO_EDGES < 1 << ENTRY_BITS &&
                  SOLO_EDGES * (SOLO_EDGES + 1ull) < 1ull << (32 - ENTRY_BITS));
    __device__ static __forceinline__ u32 entries(u32 size) { return size & ((1u << ENTRY_BITS) - 1); }
    __device__ static __forceinline__ u32 edges(u32 size) { return size >> ENTRY_BITS; }

    // Appends a warp's vertices, one for each lane.
    __device__ __forceinline__ void append(const bool (&fresh)[1], const vertex_t (&v)[1],
                                           const edge_t (&row)[1], const edge_t (&count)[1]) const {
        const bool queued = fresh[0] && count[0] > leaf_degree;
        const u32 lanes = __ballot_sync(FULL_WARP, queued);
        if (!lanes) return;
        const u32 own = queued ? static_cast<u32>(min(count[0], static_cast<edge_t>(SOLO_EDGES + 1))) : 0;
        const u32 inclusive = warp_scan(own);
        u32 before = 0;
        if (lane_id() == WARP - 1) before = atomicAdd(size, inclusive << ENTRY_BITS | __popc(lanes));
        before = __shfl_sync(FULL_WARP, before, WARP - 1);
        const u32 at = entries(before) + __popc(lanes & lanes_below());
        if (queued) {
            vertex[at] = v[0];
            begin[at] = row[0];
            degree[at] = static_cast<u32>(min(count[0], static_cast<edge_t>(MOST_KEPT)));
            first[at] = static_cast<u16>(edges(before) + inclusive - own);
        }
    }
};

// Follows N edges for each lane (from -> to; none where `to` is NONE).  It works in stages, so that the N
// loads, and then the N atomics, are in flight together; the offsets of a vertex are loaded during its claim.
template <i32 N, class Queue>
__device__ __forceinline__ void push_edges(const Graph& graph, const State& state, const vertex_t (&from)[N],
                                           const vertex_t (&to)[N], i32 depth, const Queue& queue,
                                           Tally& tally) {
    u32 old[N];
    edge_t first[N];
    edge_t degree[N];
    bool fresh[N];
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        old[k] = to[k] == NONE ? ~0u : queue.eager ? 0 : __ldcg(state.visited + word_of(to[k]));
    }
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        const u32 bit = bit_of(to[k]);
        first[k] = degree[k] = 0;
        if (!(old[k] & bit)) {
            old[k] = atomicOr(state.visited + word_of(to[k]), bit);
            first[k] = graph.reached_offsets()[to[k]];
            degree[k] = graph.reached_offsets()[to[k] + 1] - first[k];
        }
    }
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        fresh[k] = !(old[k] >> (to[k] & 31) & 1);
        if (fresh[k]) {
            reach(state, to[k], from[k], depth, tally);
            tally.edges += degree[k];
        }
    }
    queue.append(fresh, to, first, degree);
}

// A run of neighbouring lanes whose bits belong to the same word.  Rows are in ascending order, so
// neighbouring lanes often share a word, and each run sets its bits with one atomic.  Where hubs point to
// hubs, all warps need the same few words, and with one atomic for each edge thousands would wait for each
// other.
struct WordRun {
    i32 last;  // lane that issues the atomic of the run
    u32 bits;  // bits of the run's lanes up to this one
    u32 bits_before;

    __device__ __forceinline__ WordRun(vertex_t word, u32 bit) : bits(bit) {
        const u32 lane = lane_id();
        const u32 upto = lanes_below() | 1u << lane;
        const vertex_t below_word = __shfl_up_sync(FULL_WARP, word, 1);
        const u32 heads = __ballot_sync(FULL_WARP, lane == 0 || below_word != word);
        const u32 first = WARP - 1 - __clz(heads & upto);
        const u32 behind = heads & ~upto;
        last = behind ? __ffs(behind) - 2 : WARP - 1;
        for (u32 step = 1; step < WARP; step *= 2) {
            const u32 below = __shfl_up_sync(FULL_WARP, bits, step);
            if (lane >= first + step) bits |= below;
        }
        bits_before = __shfl_up_sync(FULL_WARP, bits, 1);
        if (lane == first) bits_before = 0;
    }
};

// Follows N edges for each lane and marks the vertices reached in a bitmap.  An edge to a vertex that is
// marked already, according to the bitmap in the multiprocessor's cache, needs no atomic; that cache may
// hold an older state, so the atomic decides.
template <i32 N>
__device__ __forceinline__ void push_edges(const Graph&, const State& state, const vertex_t (&from)[N],
                                           const vertex_t (&to)[N], i32, const FrontierMap& map,
                                           Tally& tally) {
    u32 old[N];
    u32 bit[N];
    u32 bits_before[N];
    i32 last[N];
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        old[k] = to[k] == NONE ? ~0u : state.visited[word_of(to[k])] | map.bitmap[word_of(to[k])];
    }
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        bit[k] = bit_of(to[k]) & ~old[k];
        const WordRun run(word_of(to[k]), bit[k]);
        old[k] = 0;
        if (lane_id() == run.last && run.bits) old[k] = atomicOr(map.bitmap + word_of(to[k]), run.bits);
        last[k] = run.last;
        bits_before[k] = run.bits_before;
    }
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        old[k] = __shfl_sync(FULL_WARP, old[k], last[k]) | bits_before[k];
        if (bit[k] & ~old[k]) claim(state, to[k], from[k], tally);
    }
}

// Follows the edges of a warp's vertices; each lane holds one frontier vertex, or degree 0.
template <class Queue>
__device__ void push_tile(const Graph& graph, const State& state, vertex_t v, edge_t begin, u32 degree,
                          i32 depth, const Queue& queue, Tally& tally) {
    const u32 lane = lane_id();
    const u32 inclusive = warp_scan(degree);
    const u32 total = __shfl_sync(FULL_WARP, inclusive, WARP - 1);
    const u32 exclusive = inclusive - degree;
    if (TRACE && lane == 0) tally.examined += total;
    for (u32 base = 0; base < total; base += WARP * UNROLL) {
        vertex_t from[UNROLL];
        vertex_t to[UNROLL];
        // All loads of the batch are in flight before the first result is used.
#pragma unroll
        for (i32 k = 0; k < UNROLL; ++k) {
            const u32 edge = base + WARP * k + lane;
            u32 owner = 0;
#pragma unroll
            for (i32 step = WARP / 2; step > 0; step /= 2) {
                const u32 passed = __shfl_sync(FULL_WARP, inclusive, owner + step - 1);
                if (passed <= edge) owner += step;
            }
            owner &= WARP - 1;
            from[k] = __shfl_sync(FULL_WARP, v, owner);
            const edge_t first = __shfl_sync(FULL_WARP, begin, owner);
            const u32 before = __shfl_sync(FULL_WARP, exclusive, owner);
            to[k] = edge < total ? graph.out.neighbor(first + (edge - before), tally) : NONE;
        }
        push_edges(graph, state, from, to, depth, queue, tally);
    }
}

constexpr u32 CUTS = (HUB_DEGREE + BATCH - 1) / BATCH;

// Processes one level with the whole grid: the narrow queue in tiles, then the chunks of the hubs.
template <class Queue>
__device__ void push_level(const Graph& graph, const State& state, const NarrowItem* narrow, u64 n_narrow,
                           const HubItem* hubs, u64 packed_hubs, i32 depth, const Queue& queue,
                           Tally& tally) {
    const u32 lane = lane_id();
    const count_t n_warps = static_cast<count_t>(grid_warps());
    // A short queue is cut into smaller pieces, so that a warp has all edges of its piece in flight at once.
    const bool cut = n_narrow * CUTS <= n_warps;
    const count_t n_items = static_cast<count_t>(cut ? n_narrow * CUTS : n_narrow);
    const bool single = n_items <= n_warps;
    const count_t tile = single ? 1 : min(static_cast<count_t>(WARP), (n_items + n_warps - 1) / n_warps);
    for (count_t base = static_cast<count_t>(grid_warp()) * tile; base < n_items; base += n_warps * tile) {
        NarrowItem item{0, NONE, 0};
        if (lane < tile && base + lane < n_items) item = narrow[cut ? base / CUTS : base + lane];
        if (cut) {
            const u32 first = static_cast<u32>(base % CUTS) * BATCH;
            item.begin += first;
            item.degree = item.degree > first ? min(item.degree - first, BATCH) : 0;
        }
        push_tile(graph, state, item.vertex, item.begin, item.degree, depth, queue, tally);
    }
    const count_t n_busy = single ? n_items : min((n_items + tile - 1) / tile, n_warps);
    for_hub_chunks<HUB_DEGREE>(hubs, packed_hubs, n_busy, [&](vertex_t v, edge_t first, edge_t last) {
        const edge_t row = graph.out.offsets[v];
        const edge_t degree = graph.out.offsets[v + 1] - row;
        if (first >= degree) return;
        const edge_t end = row + min(last, degree);
        if (TRACE && lane == 0) tally.examined += end - row - first;
        constexpr i32 AT_ONCE = HUB_UNROLL<Queue>;
        for (edge_t base = row + first; base < end; base += WARP * AT_ONCE) {
            vertex_t from[AT_ONCE];
            vertex_t to[AT_ONCE];
#pragma unroll
            for (i32 k = 0; k < AT_ONCE; ++k) {
                const edge_t edge = base + WARP * k + lane;
                from[k] = v;
                to[k] = edge < end ? graph.out.neighbor(edge, tally) : NONE;
            }
            push_edges(graph, state, from, to, depth, queue, tally);
        }
    });
}
