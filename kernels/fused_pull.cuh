// Bottom-up step (Beamer, Asanovic and Patterson, SC 2012): every unvisited vertex looks for one neighbour in
// the frontier and stops at the first.
//
// 1. pull_first: looks up the first neighbour of each unvisited vertex.  A warp packs the unvisited vertices
//    of a few bitmap words, so that its lanes are busy even if few vertices are left.
// 2. pull_vertices: for the vertices that are left, a lane reads up to PROBES more edges of each.
// 3. pull_deferred: longer rows are cut into chunks, which are distributed over the grid.
#pragma once
#include "fused_frontier.cuh"
#include "fused_words.cuh"

// Edges that a lane reads alone; a vertex with more left is deferred.  Not less than HUB_DEGREE, so that the
// deferred vertices fit into the list of hubs.
#ifndef PROBES
#define PROBES 128
#endif
#ifndef DEFER_CHUNK
#define DEFER_CHUNK 256
#endif
// A tile with a word of at least this many unvisited vertices is read word by word.
#ifndef DENSE_WORD
#define DENSE_WORD 12
#endif

static_assert(TILE_WORDS * 32 <= 256, "a list of a tile has bytes");

struct PullShared {
    u8 list[WARPS][TILE_WORDS * 32];
    u32 found[WARPS][WARP];
    WordRows rows[WARPS][WARP];
    u32 hubs[HUB_WORDS];
};

// Records the predecessor of a vertex.  Its bit and distance are recorded later, for a whole word together.
__device__ __forceinline__ void settle(const State& state, vertex_t v, vertex_t from) {
#if PREDECESSORS
    state.predecessor[v] = from;
#endif
}

// Counts the vertices of a word that were reached.
__device__ __forceinline__ void count_word(const State& state, vertex_t word, u32 found, Tally& tally) {
    tally.vertices += __popc(found);
    if (state.targets) tally.targets += __popc(found & state.targets[word]);
}

// Searches the rows of a warp's vertices: each lane has an unvisited vertex whose first neighbour is not in
// the frontier (or NONE).  Returns whether the lane's vertex was reached.
__device__ bool pull_vertices(const Graph& graph, const State& state, const Frontier& frontier, vertex_t v,
                              const WordRows& rows, HubItem* deferred, Level* level, Tally& tally) {
    edge_t begin = 0;
    edge_t end = 0;
    vertex_t from = NONE;
    if (v != NONE) {
        if (rows.degree) {
            begin = rows.begin + static_cast<edge_t>(v & 31) * rows.degree;
            end = begin + rows.degree;
        } else {
            begin = graph.in.offsets[v];
            end = graph.in.offsets[v + 1];
        }
        begin += 1;
    }
    // Four neighbours at a time: they mostly share a sector, and their bitmap words are loaded together.
    constexpr i32 AT_ONCE = 4;
    for (i32 probe = 0; probe < PROBES && from == NONE && begin < end; probe += AT_ONCE) {
        vertex_t u[AT_ONCE];
        bool hit[AT_ONCE];
#pragma unroll
        for (i32 k = 0; k < AT_ONCE; ++k) {
            u[k] = begin + k < end ? graph.in.neighbor(begin + k, tally) : NONE;
        }
        end_loads();
        look_up(frontier, u, hit, tally);
#pragma unroll
        for (i32 k = AT_ONCE - 1; k >= 0; --k) {
            if (hit[k]) from = u[k];
        }
        if (TRACE) tally.examined += min(static_cast<edge_t>(AT_ONCE), end - begin);
        begin += AT_ONCE;
    }
    const bool put_off = from == NONE && begin < end;
    const u32 chunks = put_off ? static_cast<u32>((end - graph.in.offsets[v] - 1) / DEFER_CHUNK + 1) : 0;
    append_hubs(deferred, &level->deferred, put_off, v, chunks);
    if (from != NONE) settle(state, v, from);
    return from != NONE;
}

// First probe of N vertices for each lane: settles those whose first neighbour is in the frontier, and lists
// the others that have more neighbours, from place `left` on.  A lane has several vertices so that their
// loads are in flight together.
template <i32 N>
__device__ __forceinline__ void pull_first(const Graph& graph, const State& state, const Frontier& frontier,
                                           const Tile& tile, const u32 (&local)[N], const bool (&waiting)[N],
                                           bool (&hit)[N], u8* list, u32& left, Tally& tally) {
    vertex_t entry[N];
    vertex_t from[N];
#pragma unroll
    for (i32 k = 0; k < N; ++k) {  // read once a level: should not evict the frontier from the cache
        entry[k] = waiting[k] ? __ldcs(graph.first_neighbors + tile.vertex(local[k])) : NONE;
    }
    end_loads();
#pragma unroll
    for (i32 k = 0; k < N; ++k) from[k] = neighbor_in(entry[k]);
    look_up(frontier, from, hit, tally);
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        if (TRACE && from[k] != NONE) tally.examined += 1;
#if TRACE
        tally.looked += waiting[k];
#endif
    }
#pragma unroll
    for (i32 k = 0; k < N; ++k) {
        if (hit[k]) settle(state, tile.vertex(local[k]), from[k]);
        const bool more = !hit[k] && entry[k] >= 0;
        const u32 lanes = __ballot_sync(FULL_WARP, more);
        if (more) list[left + __popc(lanes & lanes_below())] = static_cast<u8>(local[k]);
        left += __popc(lanes);
    }
}

// First probe of a mostly unvisited tile: a word at a time, with a lane for each bit.  Each lane holds one of
// the tiles' words, and gets the vertices found in it.
__device__ u32 pull_dense(const Graph& graph, const State& state, const Frontier& frontier, const Tile& tile,
                          u32 unvisited, u32 first_lane, u8* list, u32& left, Tally& tally) {
    constexpr i32 N = 4;
    const u32 lane = lane_id();
    u32 found = 0;
    for (u32 word = 0; word < TILE_WORDS; word += N) {
        u32 local[N];
        bool waiting[N];
        bool hit[N];
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            local[k] = (word + k) * 32 + lane;
            waiting[k] = __shfl_sync(FULL_WARP, unvisited, first_lane + word + k) >> lane & 1;
        }
#if PREDECESSORS
        // If a whole word is unvisited, all of its predecessors are written, so that the memory system does
        // not have to read sectors to complete partial writes.
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            if (__all_sync(FULL_WARP, waiting[k])) state.predecessor[tile.vertex(local[k])] = NONE;
        }
#endif
        pull_first(graph, state, frontier, tile, local, waiting, hit, list, left, tally);
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            const u32 hits = __ballot_sync(FULL_WARP, hit[k]);
            if (lane == first_lane + word + k) found = hits;
        }
    }
    return found;
}

// First probe of a tile with few unvisited vertices, which are in a list; the vertices found are marked in
// shared memory.
__device__ void pull_sparse(const Graph& graph, const State& state, const Frontier& frontier,
                            const Tile& tile, u32 size, u8* list, u32& left, u32* found, Tally& tally) {
    constexpr i32 N = 2;
    for (u32 base = 0; base < size; base += WARP * N) {
        u32 local[N];
        bool waiting[N];
        bool hit[N];
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            const u32 at = base + WARP * k + lane_id();
            waiting[k] = at < size;
            local[k] = waiting[k] ? list[at] : 0;
        }
        // The list shrinks in place: writes never pass the entries already read.
        __syncwarp();
        pull_first(graph, state, frontier, tile, local, waiting, hit, list, left, tally);
#pragma unroll
        for (i32 k = 0; k < N; ++k) {
            if (hit[k]) atomicOr(&found[local[k] / 32], 1u << (local[k] & 31));
        }
        __syncwarp();
    }
}

// Processes one level with the whole grid.  `next` receives every word of the new frontier up to `n_linked`,
// and `queue` receives its vertices if `listed`; `send(word, bits)` is called for each word.  `pushed`, if
// not null, is a frontier that a push step wrote to a bitmap, and whose vertices are not yet visited.
template <class Queue, class Send>
__device__ void pull_level(const Graph& graph, const State& state, const Frontier& frontier,
                           const u32* pushed, u32* next, HubItem* deferred, i32 depth, Level* level,
                           PullShared& shared, const Queue& queue, bool listed, const Send& send,
                           Tally& tally) {
    const u32 lane = lane_id();
    u8* const list = shared.list[warp_in_block()];
    u32* const found = shared.found[warp_in_block()];
    WordRows* const rows = shared.rows[warp_in_block()];
    const vertex_t n_words = bitmap_words(graph.n_linked);
    const vertex_t warp = dealt_warp();
    const Deal deal = deal_words(n_words);
    for (u32 first = 0; deal.word(warp, first) < n_words; first += WARP) {
        const vertex_t word = deal.word(warp, first + lane);
        const u32 claimed = pushed && word < n_words ? pushed[word] : 0;
        const u32 unvisited = word < n_words ? ~(state.visited[word] | claimed) : 0;
        u32 found_dense = 0;
        found[lane] = 0;
        rows[lane] = unvisited ? graph.word_rows[word] : WordRows{0, 0};
        const u32 busy = __ballot_sync(FULL_WARP, unvisited);
        for (u32 first_lane = 0; first_lane < WARP; first_lane += TILE_WORDS) {
            if (!(busy >> first_lane & ((1u << TILE_WORDS) - 1))) continue;
            const Tile tile(deal, warp, first + first_lane);
            u32* const found_here = found + first_lane;
            u32 left = 0;
            const u32 here = lane / TILE_WORDS == first_lane / TILE_WORDS ? __popc(unvisited) : 0;
            if (__any_sync(FULL_WARP, here >= DENSE_WORD)) {
                found_dense |=
                    pull_dense(graph, state, frontier, tile, unvisited, first_lane, list, left, tally);
            } else {
                const u32 size = list_bits(unvisited, first_lane, list);
                pull_sparse(graph, state, frontier, tile, size, list, left, found_here, tally);
            }
            __syncwarp();
            for (u32 base = 0; base < left; base += WARP) {
                const u32 local = base + lane < left ? list[base + lane] : 0;
                const vertex_t v = base + lane < left ? tile.vertex(local) : NONE;
                if (pull_vertices(graph, state, frontier, v, rows[first_lane + local / 32], deferred, level,
                                  tally)) {
                    atomicOr(&found_here[local / 32], 1u << (local & 31));
                }
            }
            __syncwarp();
        }
        __syncwarp();
        const u32 all = found_dense | found[lane];
        if (word < n_words) {
            next[word] = all;
            send(word, all);
            if (all | claimed) {
                state.visited[word] = ~unvisited | all;
                count_word(state, word, all, tally);
            }
        }
        measure_words(state, deal, warp, first, ~unvisited ^ claimed, claimed, all, depth);
        __syncwarp();
        if (listed) queue_bits(graph, all, deal, warp, first, list, queue, tally);
    }
}

// Processes the hubs that the level deferred; their rows are distributed over the grid.
__device__ void pull_deferred(const Graph& graph, const State& state, const Frontier& frontier, u32* next,
                              const HubItem* deferred, u64 packed, i32 depth, Tally& tally) {
    for_hub_chunks<DEFER_CHUNK>(deferred, packed, 0, [&](vertex_t v, edge_t first, edge_t last) {
        const edge_t row = graph.in.offsets[v];
        const edge_t degree = graph.in.offsets[v + 1] - row;
        if (first >= degree) return;
        const edge_t end = row + min(last, degree);
        const u32 bit = bit_of(v);
        constexpr edge_t AT_ONCE = DEFER_CHUNK;
        // One chunk at a time, as another warp may have settled the vertex in the meantime.  Lanes may load
        // different values of its bit, so they vote.
        for (edge_t begin = row + first; begin < end; begin += min(AT_ONCE, end - begin)) {
            if (__any_sync(FULL_WARP, __ldcg(state.visited + word_of(v)) & bit)) return;
            const vertex_t from =
                warp_search(graph, frontier, begin, begin + min(AT_ONCE, end - begin), tally);
            if (from == NONE) continue;
            if (lane_id() == 0 && !(atomicOr(state.visited + word_of(v), bit) & bit)) {
                atomicOr(next + word_of(v), bit);
                reach(state, v, from, depth, tally);
            }
            return;
        }
    });
}
