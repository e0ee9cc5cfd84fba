// Exchange of the frontier in a search by several ranks: each rank lists the vertices that it has found, and
// takes the lists of the others, or their parts of the bitmap, unless these were sent to it word by word.
#pragma once
#include "fused_meeting.cuh"
#include "fused_words.cuh"

// If the frontier has at most this many edges, and no row of more than THIN_DEGREE edges, ranks send what
// they find to each other's inboxes.  An inbox has room for this many vertices from each rank, or for all of
// them.
#ifndef THIN_EDGES
#define THIN_EDGES (1 << 16)
#endif
#ifndef THIN_DEGREE
#define THIN_DEGREE 16
#endif

// A list in the rank's memory, from which the others read it.
struct OwnList {
    vertex_t* list;

    __device__ __forceinline__ void put(u64 place, vertex_t id) const { list[place] = id; }
};

// Inboxes in the memory of all ranks: each rank writes its list to every rank's inbox.  An entry is one word,
// or two, with the number of the next meeting in the upper half and 32 bits of an id in the lower, so that it
// can be used as soon as it arrives (see Slot).  There are two inboxes, as there are two slots.
struct Inboxes {
    static constexpr i32 WORDS = VERTEX_BITS / 32;

    const Ranks* ranks;
    u64* inbox;  // of this rank
    u32 number;  // of the meeting that follows the writes

    // The list of rank `from` in this rank's inbox.
    __device__ __forceinline__ u64* list(i32 from) const {
        const i64 size = WORDS * min(static_cast<vertex_t>(THIN_EDGES), ranks->n_each);
        return inbox + size * ((number & 1) * ranks->n + from);
    }
    __device__ __forceinline__ void put(u64 place, vertex_t id) const {
        u64* const mine = list(ranks->rank) + WORDS * place;
        const u64 stamp = static_cast<u64>(number) << 32;
        for (i32 r = 0; r < ranks->n; ++r) {
            u64* const theirs = ranks->at(r, mine);
#pragma unroll
            for (i32 k = 0; k < WORDS; ++k) {
                store_remote(theirs + k, stamp | static_cast<u32>(static_cast<u64>(id) >> 32 * k));
            }
        }
    }
    // Returns an entry, and waits for it if necessary: its rank wrote it before it sent the length.
    __device__ __forceinline__ vertex_t entry(i32 from, u64 place) const {
        const u64* const words = list(from) + WORDS * place;
        u64 id = 0;
#pragma unroll
        for (i32 k = 0; k < WORDS; ++k) {
            u64 word = load_remote(words + k);
            while (word >> 32 != number) word = load_remote(words + k);
            id |= (word & 0xffffffffu) << 32 * k;
        }
        return static_cast<vertex_t>(id);
    }
};

// Appends the ids of this rank's vertices to a list, and notes in `level->hubs` whether one of them has a
// long row.
template <class List>
struct FoundList {
    List to;
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
        if (__any_sync(FULL_WARP, any_long) && lane_id() == 0) atomicOr(&level->hubs, 1ull << ARRIVAL_BITS);
        u64 place = 0;
        if (lane_id() == 0) place = reserve(&level->narrow, total);
        place = __shfl_sync(FULL_WARP, place, 0);
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            if (lanes[k] >> lane_id() & 1) to.put(place + __popc(lanes[k] & lanes_below()), first_id + v[k]);
            place += __popc(lanes[k]);
        }
    }
};

// Sends the words of this rank's part of a bitmap to the others as a pull step completes them, so that they
// cross the link while it works.
struct SentWords {
    const Ranks& ranks;
    u32* part;  // of this rank
    bool sends;

    __device__ __forceinline__ void operator()(vertex_t word, u32 bits) const {
        if (!sends) return;
        for (i32 k = 1; k < ranks.n; ++k) {
            const i32 r = ranks.after(k);
            store_remote(ranks.at(r, part) + word, bits);
        }
    }
};

// Returns the number of this warp, counted from warp `first` on.
__device__ __forceinline__ u32 warp_from(u32 first) {
    const u32 own = static_cast<u32>(grid_warp());
    return own >= first ? own - first : own + static_cast<u32>(grid_warps()) - first;
}

// Calls visit(rank, place, any) for the entries of all ranks' lists, a warp at a time, `any` being false for
// lanes without one.  Each list begins with another warp, so that short lists are read at the same time.
template <class Visit>
__device__ __forceinline__ void for_listed(const Ranks& ranks, const RanksShared& peers, Visit visit) {
    const u32 n_warps = static_cast<u32>(grid_warps());
    for (i32 k = 0; k < ranks.n; ++k) {
        const i32 r = ranks.after(k);
        const u64 size = peers.listed(r);
        const u32 warp = warp_from(static_cast<u32>(k) * n_warps / static_cast<u32>(ranks.n));
        for (u64 base = static_cast<u64>(warp) * WARP; base < size; base += n_warps * WARP) {
            visit(r, base + lane_id(), base + lane_id() < size);
        }
    }
}

// The vertices of a frontier, in the ranks' lists or in the inbox of this one.
struct ListedFrontier {
    const Ranks& ranks;
    const RanksShared& peers;
    vertex_t* list;   // of this rank
    Inboxes inboxes;  // as the vertices were sent
    bool sent;        // to the inboxes

    __device__ __forceinline__ vertex_t entry(i32 r, u64 place) const {
        return sent ? inboxes.entry(r, place) : load_remote(ranks.at(r, list) + place);
    }

    // Calls visit(id) for each vertex, NONE for lanes without one.
    template <class Visit>
    __device__ __forceinline__ void for_each(Visit visit) const {
        for_listed(ranks, peers, [&](i32 r, u64 place, bool any) { visit(any ? entry(r, place) : NONE); });
    }

    // Returns a vertex to each lane of every warp, or NONE; there are at most 32.
    __device__ __forceinline__ vertex_t of_lane() const {
        vertex_t id = NONE;
        u64 place = lane_id();  // wraps to a large number once the lane has its entry
        for (i32 r = 0; r < ranks.n; ++r) {
            const u64 size = peers.listed(r);
            if (place < size) id = entry(r, place);
            place -= size;
        }
        return id;
    }
};

// Queues this rank's rows of the vertices of a frontier.
__device__ void lists_to_queue(const Graph& graph, const ListedFrontier& frontier, const GridQueue& queue) {
    frontier.for_each([&](vertex_t id) {
        const bool mine[1] = {id != NONE};
        const vertex_t v[1] = {id};
        const edge_t begin[1] = {mine[0] ? graph.out.offsets[id] : 0};
        const edge_t degree[1] = {mine[0] ? graph.out.offsets[id + 1] - begin[0] : 0};
        queue.append(mine, v, begin, degree);
    });
}

// Follows this rank's rows of the vertices of a frontier without queueing them, as all rows are short: a
// queue, which would divide long rows, would take one more barrier of the grid.  A lane takes a vertex.
template <class Queue>
__device__ void push_lists(const Graph& graph, const State& state, const ListedFrontier& frontier, i32 depth,
                           const Queue& queue, Tally& tally) {
    constexpr i32 AT_ONCE = 4;
    frontier.for_each([&](vertex_t id) {
        edge_t edge = id == NONE ? 0 : graph.out.offsets[id];
        const edge_t end = id == NONE ? 0 : graph.out.offsets[id + 1];
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

// Follows this rank's rows of a frontier of at most 32 vertices, each row with the whole grid, without
// queueing them.  Rows begin with different warps, so that short ones are followed at the same time.
template <class Queue>
__device__ void push_few(const Graph& graph, const State& state, const ListedFrontier& frontier, i32 depth,
                         const Queue& queue, Tally& tally) {
    const u32 n_warps = static_cast<u32>(grid_warps());
    const vertex_t v = frontier.of_lane();
    const edge_t begin = v == NONE ? 0 : graph.out.offsets[v];
    const edge_t degree = v == NONE ? 0 : graph.out.offsets[v + 1] - begin;
    const edge_t offset = static_cast<edge_t>(warp_from(lane_id() * n_warps / WARP)) * BATCH;
    for (u32 lanes = __ballot_sync(FULL_WARP, offset < degree); lanes; lanes &= lanes - 1) {
        const i32 owner = __ffs(lanes) - 1;
        const vertex_t source = __shfl_sync(FULL_WARP, v, owner);
        const edge_t row = __shfl_sync(FULL_WARP, begin, owner);
        const edge_t size = __shfl_sync(FULL_WARP, degree, owner);
        for (edge_t base = __shfl_sync(FULL_WARP, offset, owner); base < size; base += n_warps * BATCH) {
            if (TRACE && lane_id() == 0) tally.examined += min(static_cast<edge_t>(BATCH), size - base);
            vertex_t from[UNROLL];
            vertex_t to[UNROLL];
#pragma unroll
            for (i32 k = 0; k < UNROLL; ++k) {
                const edge_t edge = base + WARP * k + lane_id();
                from[k] = source;
                to[k] = edge < size ? graph.out.neighbor(row + edge, tally) : NONE;
            }
            push_edges(graph, state, from, to, depth, queue, tally);
        }
    }
}

// Writes the vertices of a frontier to a bitmap, which must be cleared before.
__device__ void lists_to_bitmap(const ListedFrontier& frontier, u32* bitmap) {
    frontier.for_each([&](vertex_t id) {
        if (id != NONE) atomicOr(bitmap + word_of(id), bit_of(id));
    });
}

// Copies the other ranks' parts of a bitmap.
__device__ void copy_parts(const Ranks& ranks, u32* bitmap) {
    constexpr i32 AT_ONCE = 4;
    const i64 pairs = ranks.words_each() / 2;
    for (i32 k = 1; k < ranks.n; ++k) {
        const i32 r = ranks.after(k);
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
