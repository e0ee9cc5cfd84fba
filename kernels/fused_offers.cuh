// Push steps of ranks that have only the rows of their own vertices (LEAN), in a symmetric graph: a rank
// follows the edges of its part of the frontier and offers each vertex found to its owner, which claims it.
//
// Invariant: a rank offers a vertex at most once in a search, so a box with a place for each vertex of its
// owner never overflows.
#pragma once
#include "fused_exchange.cuh"

// A vertex of the receiver, and the id of the frontier's vertex that leads to it.
struct Offer {
    vertex_t to;
    vertex_t from;
};

// Puts the vertices that edges lead to into a box for each rank, in memory that all ranks can reach.
struct Outbox {
    Offer* boxes;
    u32* offered;  // bitmap of the ids that were offered before
    u64* sizes;
    vertex_t n_each;
    vertex_t first_id;
    i32 n_ranks;
    bool eager;  // mark without reading first: faster while few edges lead to vertices that were offered

    template <i32 N>
    __device__ __forceinline__ void append(const bool (&fresh)[N], const vertex_t (&from)[N],
                                           const vertex_t (&to)[N]) const {
        i32 owner[N];
#pragma unroll
        for (i32 k = 0; k < N; ++k) owner[k] = fresh[k] ? static_cast<i32>(to[k] / n_each) : n_ranks;
        for (i32 r = 0; r < n_ranks; ++r) {
            u32 lanes[N];
            u32 total = 0;
#pragma unroll
            for (i32 k = 0; k < N; ++k) {
                lanes[k] = __ballot_sync(FULL_WARP, owner[k] == r);
                total += __popc(lanes[k]);
            }
            if (!total) continue;
            u64 place = 0;
            if (lane_id() == 0) place = atomicAdd(&sizes[r], static_cast<u64>(total));
            place = __shfl_sync(FULL_WARP, place, 0);
            const vertex_t first = n_each * r;
#pragma unroll
            for (i32 k = 0; k < N; ++k) {
                if (lanes[k] >> lane_id() & 1) {
                    boxes[first + place + __popc(lanes[k] & lanes_below())] =
                        Offer{to[k] - first, first_id + from[k]};
                }
                place += __popc(lanes[k]);
            }
        }
    }
};

// Follows N edges for each lane and offers the vertices that were not offered before.
template <i32 N>
__device__ __forceinline__ void push_edges(const Graph&, const State&, const vertex_t (&from)[N],
                                           const vertex_t (&to)[N], i32, const Outbox& outbox, Tally&) {
    u32 old[N];
    bool fresh[N];
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        old[k] = to[k] == NONE ? ~0u : outbox.eager ? 0 : __ldcg(outbox.offered + word_of(to[k]));
    }
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        const u32 bit = bit_of(to[k]);
        if (!(old[k] & bit)) old[k] = atomicOr(outbox.offered + word_of(to[k]), bit);
        fresh[k] = to[k] != NONE && !(old[k] & bit);
    }
    outbox.append(fresh, from, to);
}

// Queues the rows of the vertices in the rank's own list.
__device__ void own_list_to_queue(const Graph& graph, const Ranks& ranks, const RanksShared& peers,
                                  const vertex_t* list, const GridQueue& queue) {
    const u64 size = peers.listed(ranks.rank);
    for (u64 base = grid_warp() * WARP; base < size; base += grid_warps() * WARP) {
        const bool any[1] = {base + lane_id() < size};
        const vertex_t v[1] = {any[0] ? list[base + lane_id()] - ranks.first() : NONE};
        const edge_t begin[1] = {any[0] ? graph.out.offsets[v[0]] : 0};
        const edge_t degree[1] = {any[0] ? graph.out.offsets[v[0] + 1] - begin[0] : 0};
        queue.append(any, v, begin, degree);
    }
}

// Claims the vertices that the ranks have offered to this one, `peers.listed()` by each.
template <class Queue>
__device__ void claim_offers(const Graph& graph, const State& state, const Ranks& ranks,
                             const RanksShared& peers, Offer* boxes, i32 depth, const Queue& queue,
                             Tally& tally) {
    boxes += ranks.first();
    for_listed(ranks, peers, [&](i32 r, u64 place, bool any) {
        const Offer* const offer = ranks.at(r, boxes) + place;
        const vertex_t to[1] = {any ? load_remote(&offer->to) : NONE};
        const vertex_t from[1] = {PREDECESSORS && any ? load_remote(&offer->from) : NONE};
        push_edges(graph, state, from, to, depth, queue, tally);
    });
}
