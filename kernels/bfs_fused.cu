// A whole breadth-first search in one cooperative launch (SYSTEMS P7 and P6).
//
// The direction of every level is chosen on the device from edge counts: push (fused_push.cuh) while the
// frontier has few edges, pull (fused_pull.cuh) while it has many.  A frontier of a few hundred vertices is
// searched by one block alone, level after level without a grid-wide barrier, so that long thin graphs cost
// less than two microseconds for each level on an H100.
//
// Invariants.  A bit of `visited` is set once, by the thread that then writes distance and predecessor.
// The totals of a level are written only between its barrier and the next, so that all blocks make the same
// decisions from them.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012;
// D. Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph Traversal, PPoPP 2012; W. Hwu, D. Kirk, I. El Hajj,
// Programming Massively Parallel Processors, 4th edition, chapter 15 (single-launch levels, binning by
// degree).
//
// Must agree with: bfs_push.cu.
#include "fused_direction.cuh"
#include "fused_pull.cuh"
#include "fused_solo.cuh"

// With at most this many edges in a frontier, claims are made without a read of `visited` first.
#ifndef EAGER_EDGES
#define EAGER_EDGES (1 << 16)
#endif

// Clears the bits of visited vertices and of the frontier.  Bits past the last vertex count as visited.
__device__ void clear(u32* visited, u32* bitmap, vertex_t n_vertices) {
    const vertex_t n_words = bitmap_words(n_vertices);
    for (i64 i = global_thread(); i < n_words; i += global_threads()) {
        const bool ragged = i + 1 == n_words && (n_vertices & 31);
        visited[i] = ragged ? ~0u << (n_vertices & 31) : 0;
        bitmap[i] = 0;
    }
}

// Writes out the distances and marks unreached vertices; a thread takes four vertices, eight threads a word.
// The words of linked vertices whose distances are all up to `written` have been written: see
// write_full_words().
__device__ void finish(const State& state, vertex_t n_vertices, vertex_t n_linked, i32 written) {
    for (i64 first = 4 * (global_thread() - lane_id()); first < n_vertices; first += 4 * global_threads()) {
        const i64 base = first + 4 * lane_id();
        const bool inside = base < n_vertices;
        const u32 reached = inside ? state.visited[base >> 5] >> (base & 31) & 15 : 0;
        const uchar4 near = inside ? *reinterpret_cast<const uchar4*>(state.near + base) : uchar4{};
        const i32 distance[4] = {near.x, near.y, near.z, near.w};
        const i32 farthest = max(max(distance[0], distance[1]), max(distance[2], distance[3]));
        const bool done = reached == 15 && farthest <= written && (base | 31) < n_linked;
        const u32 lanes = __ballot_sync(FULL_WARP, done);
        if ((lanes >> (lane_id() & ~7u) & 255) == 255) continue;
        if (reached == 15 && farthest != FAR && base + 4 <= n_vertices) {
            *reinterpret_cast<int4*>(state.distance + base) =
                make_int4(distance[0], distance[1], distance[2], distance[3]);
            continue;
        }
        for (i32 k = 0; k < 4 && base + k < n_vertices; ++k) {
            if (!(reached >> k & 1)) {
                state.distance[base + k] = UNREACHED;
#if PREDECESSORS
                state.predecessor[base + k] = NONE;
#endif
            } else if (distance[k] < FAR) {
                state.distance[base + k] = distance[k];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, 1)
    bfs_fused(const __grid_constant__ Arguments given) {
    __shared__ BlockShared shared;
    __shared__ union {
        PullShared pull;
        SoloShared solo;
    } scratch;
    const vertex_t n_linked = given.n_linked;
    const vertex_t n_sources = given.n_sources;
    const vertex_t leaf_degree = given.leaf_degree;
    const i32 depth_limit = given.depth_limit;
    const u64 n_targets = given.n_targets;
    const vertex_t n_words = bitmap_words(n_linked);
    // Claims of one word are serialised, so useless ones should be avoided when there are many.
    const u64 eager_edges = min(static_cast<u64>(EAGER_EDGES), 8 * static_cast<u64>(n_words));
    // A push step follows this many edges at once, whereas in a pull step a vertex reads one after another.
    const u64 least_pull = max(static_cast<u64>(n_words), given.least_pull);
    Control* const control = given.control;
    u32* const visited = given.visited;
    u32* bitmap_a = given.bitmap_a;
    u32* bitmap_b = given.bitmap_b;
    NarrowItem* narrow_a = given.narrow_a;
    NarrowItem* narrow_b = given.narrow_b;
    HubItem* hubs_a = given.hubs_a;
    HubItem* hubs_b = given.hubs_b;
    const edge_t out_resident_begin = static_cast<edge_t>(given.out_resident_begin);
    const edge_t in_resident_begin = static_cast<edge_t>(given.in_resident_begin);
    const Graph graph{{given.out_offsets, given.out_indices, given.out_resident, out_resident_begin},
                      {given.in_offsets, given.in_indices, given.in_resident, in_resident_begin},
                      given.first_neighbors,
                      n_linked,
                      leaf_degree};
    const State state{given.distance, given.near, given.predecessor, visited, given.targets, control};
    const Trace trace{given.trace_rows, given.trace_capacity};
    const bool first_thread = global_thread() == 0;
    u32 epoch = __ldcg(&control->epoch);
    if (threadIdx.x == 0) shared.sum = Share{};
    if (first_thread) {
        for (Level& level : control->level) level = Level{};
        for (Level& level : control->queued) level = Level{};
    }
    clear(visited, bitmap_a, given.n_vertices);
    end_level(shared, control, &control->level[2], Tally(), epoch);

    // `narrow_a` and `hubs_a`, or `bitmap_a`, hold the current frontier, `now` the totals of its level, and
    // `depth` its distance.
    GridQueue queue{narrow_a, hubs_a, &control->level[0], 0, false};
    Tally tally;
    const bool few_sources = n_sources <= SOLO_EDGES;
    if (!few_sources) {
        for (i64 base = global_thread() - lane_id(); base < n_sources; base += global_threads()) {
            const i64 at = base + lane_id();
            const vertex_t from[1] = {NONE};
            const vertex_t to[1] = {at < n_sources ? given.sources[at] : NONE};
            push_edges(graph, state, from, to, 0, queue, tally);
        }
    } else if (blockIdx.x == 0) {
        const u32 size = static_cast<u32>(n_sources);
        const SoloStart start{given.sources, nullptr, size, 0, 0, depth_limit, n_targets};
        search_alone(graph, state, scratch.solo, start, queue, shared.sum, control->solo, trace);
    }
    end_level(shared, control, &control->level[0], tally, epoch);
    if (TRACE && !few_sources && first_thread) trace_level(trace, 0, PUSHED, 0, Level{});
    Level now = shared.seen;
    // `n_unvisited` counts linked vertices, less isolated sources: until the end, it only guides the choice
    // of directions; then the isolated vertices are added.
    u64 unexplored = static_cast<u64>(given.out_offsets[n_linked]);
    u64 n_unvisited = static_cast<u64>(n_linked);
    u64 targets_found = 0;
    i32 depth = 0;
    const auto count_level = [&](const Level& level) {
        unexplored -= level.edges;
        n_unvisited -= level.vertices;
        targets_found += level.targets;
    };
    // The block that wrote `solo` cannot overwrite it yet, as the whole grid processes the next level.
    const auto count_solo = [&]() {
        unexplored -= __ldcg(&control->solo.edges);
        n_unvisited -= __ldcg(&control->solo.vertices);
        targets_found += __ldcg(&control->solo.targets);
        depth = static_cast<i32>(__ldcg(&control->solo.depth));
    };
    if (few_sources) {
        count_solo();
    } else {
        count_level(now);
    }

    // Between levels the search is in one of three states, told by two flags:
    //
    //     queued:   not `pulling`            the frontier is in the queues; the next step pushes
    //     mapped:   `pulling`                the frontier is in the bitmap; the next step pulls
    //     swelled:  `pulling` and `swelled`  as mapped, but pushed there, and its edges are not counted
    //
    // `many` makes a queued search mapped; `few` makes a mapped or swelled one queued, unless its edges turn
    // out to be too many; `swell` makes a queued one swelled.  After a pull the search is mapped, or queued
    // if the pull has listed what it found.  Flags take no registers; as an enum, the state would spill
    // others.
    bool pulling = false;
    bool swelled = false;
    i32 written = -1;  // the distances up to this one have been written where whole words have them
    bool map_clean = true;
    const auto clean_map = [&](Level* level) {
        if (map_clean) return;
        for (i64 i = global_thread(); i < n_words; i += global_threads()) bitmap_a[i] = 0;
        end_level(shared, control, level, Tally(), epoch);
    };
    for (u32 turn = 1; depth < depth_limit && !(n_targets && targets_found >= n_targets); ++turn) {
        if (pulling ? now.vertices == 0 : now.narrow + now.hubs == 0) break;
        Level* const next = &control->level[turn % 3];
        if (first_thread) control->level[(turn + 1) % 3] = control->queued[(turn + 1) % 3] = Level{};

        // One thread chooses: conversions and comparisons of 64 bits take a block's warps longer than
        // waiting.
        if (threadIdx.x == 0) {
            shared.direction =
                choose_direction(given, swelled, now, unexplored, n_unvisited, n_words, least_pull);
        }
        __syncthreads();
        const auto [pull_work, ending, many, few, swell] = shared.direction;
        swelled = false;
        if (!pulling && many) {
            pulling = true;
            clean_map(next);
            queue_to_bitmap(narrow_a, now.narrow, hubs_a, n_hubs(now.hubs), bitmap_a);
            end_level(shared, control, next, Tally(), epoch);
        } else if (pulling && few) {
            // Queues these vertices and counts their edges.  The totals of the level that found them must not
            // change: another block may still be about to read them.
            Level* const queued = &control->queued[turn % 3];
            const u64 n_found = now.vertices;
            Tally degrees;
            bitmap_to_queue(graph, bitmap_a, GridQueue{narrow_a, hubs_a, queued, leaf_degree, false},
                            scratch.pull.list[warp_in_block()], degrees);
            end_level(shared, control, queued, degrees, epoch);
            now = shared.seen;
            now.vertices = n_found;
            unexplored -= now.edges;
            // The bitmap still holds the frontier, in case the queue is too small for the next one.
            pulling = now.edges > min(pull_work, given.queue_capacity);
            if (!pulling && now.narrow + now.hubs == 0) break;
        }

        const u64 frontier = now.vertices;
        queue = GridQueue{narrow_b, hubs_b, next, leaf_degree, now.edges <= eager_edges};
        tally = Tally();
        const bool pulled = pulling;
        if (pulling) {
            map_clean = false;
            const Frontier members{bitmap_a, scratch.pull.hubs, min(given.hub_words, n_words)};
            copy_hubs(members, scratch.pull.hubs);
            const bool early = ending && written < 0 && depth < FAR;
            pull_level(graph, state, members, bitmap_b, hubs_a, depth + 1, next, scratch.pull, queue, ending,
                       early, tally);
            if (early) written = depth;
            end_level(shared, control, next, tally, epoch);
            const u64 deferred = shared.seen.deferred;
            if (deferred) {
                Tally late;
                pull_deferred(graph, state, members, bitmap_b, hubs_a, deferred, depth + 1, late);
                end_level(shared, control, next, late, epoch);
            }
            swap(bitmap_a, bitmap_b);
            swap(narrow_a, narrow_b);
            swap(hubs_a, hubs_b);
            // Deferred vertices that were found are only in the bitmap.
            pulling = !ending || deferred || shared.seen.edges > pull_work;
        } else if (now.hubs == 0 && now.narrow <= SOLO_EDGES && now.edges <= SOLO_EDGES) {
            if (blockIdx.x == 0) {
                const u64 wanted = n_targets ? n_targets - targets_found : 0;
                const u32 size = static_cast<u32>(now.narrow);
                const SoloStart start{nullptr, narrow_a, size, frontier, depth, depth_limit, wanted};
                search_alone(graph, state, scratch.solo, start, queue, shared.sum, control->solo, trace);
            }
            end_level(shared, control, next, Tally(), epoch);
            now = shared.seen;
            count_solo();
            swap(narrow_a, narrow_b);
            swap(hubs_a, hubs_b);
            continue;
        } else if (swell) {
            clean_map(next);
            push_level(graph, state, narrow_a, now.narrow, hubs_a, now.hubs, depth + 1,
                       FrontierMap{bitmap_a, queue.eager}, tally);
            end_level(shared, control, next, tally, epoch);
            pulling = swelled = true;
            map_clean = false;
        } else {
            push_level(graph, state, narrow_a, now.narrow, hubs_a, now.hubs, depth + 1, queue, tally);
            end_level(shared, control, next, tally, epoch);
            swap(narrow_a, narrow_b);
            swap(hubs_a, hubs_b);
        }
        now = shared.seen;
        depth += 1;
        count_level(now);
        if (TRACE && first_thread) trace_level(trace, depth, pulled ? PULLED : PUSHED, frontier, now);
    }
    finish(state, given.n_vertices, n_linked, written);
    if (first_thread) {
        control->epoch = epoch;
        *given.n_unreached = n_unvisited + static_cast<u64>(given.n_vertices - n_linked);
    }
    if (TRACE && first_thread) trace.rows[0].frontier = depth;
}
