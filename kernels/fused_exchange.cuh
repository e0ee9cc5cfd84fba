// Exchange of the frontier in a search by several ranks: each rank lists the vertices that it has found, and
// takes the lists of the others, or their parts of the bitmap.
#pragma once
#include "fused_meeting.cuh"
#include "fused_words.cuh"

// A look-up in another rank's bitmap costs as much as copying LOOK_UP_BYTES.  The look-ups of a row come one
// after another, which delays the level by as much as copying LOOK_UP_DELAY_BYTES: tens of round trips of
// 1.5 us.
#ifndef LOOK_UP_BYTES
#define LOOK_UP_BYTES 48
#endif
#ifndef LOOK_UP_DELAY_BYTES
#define LOOK_UP_DELAY_BYTES (16 << 20)
#endif

// The rows of up to this many vertices, each of up to THIN_DEGREE edges, are followed as they are listed.
#ifndef THIN_LISTED
#define THIN_LISTED (1 << 16)
#endif
#ifndef THIN_DEGREE
#define THIN_DEGREE 16
#endif

// Appends the ids of this rank's vertices to the list that other ranks read, and notes in `level->hubs`
// whether one of them has a long row.
struct FoundList {
    vertex_t* list;
    Level* level;
    vertex_t leaf_degree;
    vertex_t first_id;
    bool eager;

    template <i32 N>
    __device__ __forceinline__ void append(const bool (&fresh)[N], const vertex_t (&v)[N],
                                           const edge_t (&)[N], const edge_t (&degree)[N]) const {
        u32 lanes[N];
        u32 total = 0;
        bool any_long = false;
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            lanes[k] = __ballot_sync(FULL_WARP, fresh[k] && degree[k] > leaf_degree);
            total += __popc(lanes[k]);
            any_long |= fresh[k] && degree[k] > THIN_DEGREE;
        }
        if (!total) return;
        if (any_long) level->hubs = 1;
        u64 place = 0;
        if (lane_id() == 0) place = atomicAdd(&level->narrow, static_cast<u64>(total));
        place = __shfl_sync(FULL_WARP, place, 0);
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            if (lanes[k] >> lane_id() & 1) {
                list[place + __popc(lanes[k] & lanes_below())] = first_id + v[k];
            }
            place += __popc(lanes[k]);
        }
    }
};

// How a pull step takes a frontier that is in the ranks' parts of the bitmap.
__device__ __forceinline__ Exchange choose_exchange(const Ranks& ranks, u64 n_unvisited) {
    // By each rank, of the others' parts.
    const u64 copied = 4 * static_cast<u64>(ranks.n_words() - ranks.words_each());
    const u64 looked_up = LOOK_UP_BYTES * n_unvisited / ranks.n;
    return REMOTE_LOOK_UPS && looked_up + LOOK_UP_DELAY_BYTES < copied ? LOOK_UPS : COPIES;
}

// Calls visit(entry, any) for the entries of all ranks' lists, which are read in the memory of their ranks.
// A warp takes 32 entries at a time; `any` is false for lanes without an entry.  Each list begins with a
// different warp, so that short lists are read at the same time.
template <class T, class Visit>
__device__ __forceinline__ void for_listed(const Ranks& ranks, const RanksShared& heard, T* list,
                                           Visit visit) {
    const u64 n_warps = grid_warps();
    for (i32 k = 0; k < ranks.n; ++k) {
        const i32 r = (ranks.rank + k) % ranks.n;
        const u64 size = heard.listed[r];
        const u64 warp = (grid_warp() + n_warps - static_cast<u64>(k) * n_warps / ranks.n) % n_warps;
        const T* const theirs = ranks.at(r, list);
        for (u64 base = warp * WARP; base < size; base += n_warps * WARP) {
            visit(theirs + base + lane_id(), base + lane_id() < size);
        }
    }
}

// Queues this rank's rows of the vertices in the lists.
__device__ void lists_to_queue(const Graph& graph, const Ranks& ranks, const RanksShared& heard,
                               vertex_t* list, const GridQueue& queue) {
    for_listed(ranks, heard, list, [&](const vertex_t* entry, bool any) {
        const vertex_t id = any ? load_remote(entry) : NONE;
        const bool mine[1] = {any};
        const vertex_t v[1] = {id};
        const edge_t begin[1] = {any ? graph.out.offsets[id] : 0};
        const edge_t degree[1] = {any ? graph.out.offsets[id + 1] - begin[0] : 0};
        queue.append(mine, v, begin, degree);
    });
}

// Follows this rank's rows of the vertices in the lists without queueing them, as all rows are short: a
// queue, which would divide long rows, would take one more barrier of the grid.  A lane takes a vertex.
template <class Queue>
__device__ void push_lists(const Graph& graph, const State& state, const Ranks& ranks,
                           const RanksShared& heard, vertex_t* list, i32 depth, const Queue& queue,
                           Tally& tally) {
    constexpr i32 AT_ONCE = 4;
    for_listed(ranks, heard, list, [&](const vertex_t* entry, bool any) {
        const vertex_t id = any ? load_remote(entry) : NONE;
        edge_t edge = any ? graph.out.offsets[id] : 0;
        const edge_t end = any ? graph.out.offsets[id + 1] : 0;
        while (__any_sync(FULL_WARP, edge < end)) {
            vertex_t from[AT_ONCE];
            vertex_t to[AT_ONCE];
#pragma unroll
            for (i32 k = 0; k < AT_ONCE; ++k) {
                from[k] = id;
                to[k] = edge + k < end ? graph.out.neighbor(edge + k, tally) : NONE;
                if (TRACE && edge + k < end) tally.examined += 1;
            }
            push_edges(graph, state, from, to, depth, queue, tally);
            edge += AT_ONCE;
        }
    });
}

// Writes the vertices in the lists to a bitmap, which must be cleared before.
__device__ void lists_to_bitmap(const Ranks& ranks, const RanksShared& heard, vertex_t* list, u32* bitmap) {
    for_listed(ranks, heard, list, [&](const vertex_t* entry, bool any) {
        if (!any) return;
        const vertex_t id = load_remote(entry);
        atomicOr(bitmap + word_of(id), bit_of(id));
    });
}

// Copies the other ranks' parts of a bitmap.
__device__ void copy_parts(const Ranks& ranks, u32* bitmap) {
    constexpr i32 AT_ONCE = 4;
    const i64 pairs = ranks.words_each() / 2;
    for (i32 k = 1; k < ranks.n; ++k) {
        const i32 r = (ranks.rank + k) % ranks.n;  // ranks read from different ones
        u64* const here = reinterpret_cast<u64*>(bitmap + ranks.words_each() * r);
        const u64* const there = ranks.at(r, here);
        for (i64 base = global_thread(); base < pairs; base += AT_ONCE * global_threads()) {
            u64 words[AT_ONCE];
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) {
                const i64 at = base + i * global_threads();
                words[i] = at < pairs ? load_remote(there + at) : 0;
            }
#pragma unroll
            for (i32 i = 0; i < AT_ONCE; ++i) {
                const i64 at = base + i * global_threads();
                if (at < pairs) here[at] = words[i];
            }
        }
    }
}
