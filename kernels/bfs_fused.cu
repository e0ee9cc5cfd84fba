// A whole breadth-first search in one cooperative launch (docs/systems.md, P6 and P7).
//
// 1. The blocks clear the marks (fused_ends.cuh) and claim the sources.
// 2. Each level is a push step (fused_push.cuh) while the frontier has few edges, or a pull step
//    (fused_pull.cuh) while it has many; fused_direction.cuh chooses on the device, from edge counts.
// 3. The level ends when all blocks have added their shares to its totals, which all blocks then know
//    (fused_level.cuh).
// 4. While the frontier has at most SOLO_EDGES vertices and edges, and no hub, one block searches alone,
//    level after level without a barrier of the grid (fused_solo.cuh; not with RANKED), so that a level of a
//    long thin graph costs less than two microseconds on an H100.
// 5. The blocks write the answer (fused_ends.cuh).
//
// Invariants.  A bit of `visited` is set once, by the thread that then writes distance and predecessor.
// The totals of a level are complete when it ends, and are cleared only when all blocks have read them, so
// that all blocks make the same decisions.
//
// With RANKED the launch is one of several, one on each rank of a graph, which synchronise inside the kernel
// (fused_meeting.cuh).  Before a step each rank takes the frontier from the others (fused_exchange.cuh): it
// reads the lists of what they found into its queues or its bitmap, copies their parts of the bitmap, or
// follows the rows directly from the lists, if there are at most 32 or if all are short; lists of short rows
// are sent to it.  What a pull step finds is sent to the others' bitmaps word by word.  With LEAN, a rank has
// no rows of the others' vertices: it pushes its own part of the frontier and offers the vertices that it
// finds to their owners (fused_offers.cuh).
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012;
// D. Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph Traversal, PPoPP 2012; W. Hwu, D. Kirk, I. El Hajj,
// Programming Massively Parallel Processors, 4th edition, chapter 15 (single-launch levels, binning by
// degree).
//
// Must agree with: bfs_push.cu.
#include "fused_direction.cuh"
#include "fused_ends.cuh"
#include "fused_pull.cuh"
#include "fused_solo.cuh"
#if RANKED
#include "fused_exchange.cuh"
#endif
#if LEAN
#include "fused_offers.cuh"
#endif

// With at most this many edges in a frontier, claims are made without a read of `visited` first.
#ifndef EAGER_EDGES
#define EAGER_EDGES (1 << 16)
#endif

// Parts of a push step that end on all blocks: with LEAN, offers come before claims.
constexpr u32 PUSH_PARTS = LEAN ? 2 : 1;

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, 1)
    bfs_fused(const __grid_constant__ Arguments given) {
    __shared__ BlockShared shared;
    __shared__ union {
        PullShared pull;
#if !RANKED
        SoloShared solo;
#endif
    } scratch;
    const vertex_t n_linked = given.n_linked;
    const vertex_t n_sources = given.n_sources;
    const vertex_t leaf_degree = given.leaf_degree;
    const i32 depth_limit = given.depth_limit;
    const u64 n_targets = given.n_targets;
#if RANKED
    __shared__ RanksShared peers;
    const Ranks ranks(given, peers);
    begin_meetings(given, peers, shared.leaving);
    __syncthreads();
    const vertex_t n_words = ranks.n_words();
    // The queues are of own rows of the frontier only, one of each.
    NarrowItem* const narrow_a = given.narrow_a;
    HubItem* const hubs_a = given.hubs_a;
    bool lists_swapped = false;
    const auto listed_now = [&]() { return lists_swapped ? given.listed_b : given.listed_a; };
    const auto listed_next = [&]() { return lists_swapped ? given.listed_a : given.listed_b; };
    bool sent = false;  // the frontier is in the inboxes, not in the lists
    // How the bitmap got the vertices of all ranks; NO_EXCHANGE: it has only this rank's.
    Exchange whole_map = NO_EXCHANGE;
    const auto inboxes = [&](u32 number) { return Inboxes{&ranks, given.inbox, number}; };
    const auto listed_frontier = [&]() {
        return ListedFrontier{ranks, peers, listed_now(), inboxes(peers.number), sent};
    };
#else
    const vertex_t n_words = bitmap_words(n_linked);
    NarrowItem* narrow_a = given.narrow_a;
    NarrowItem* narrow_b = given.narrow_b;
    HubItem* hubs_a = given.hubs_a;
    HubItem* hubs_b = given.hubs_b;
#endif
    // Claims of one word are serialised, so useless ones should be avoided when there are many.
    const u64 eager_edges = min(static_cast<u64>(EAGER_EDGES), 8 * static_cast<u64>(n_words));
    // A push step follows this many edges at once, whereas in a pull step a vertex reads one after another.
    const u64 least_pull = max(static_cast<u64>(n_words), given.least_pull);
    Control* const control = given.control;
    u32* const visited = given.visited;
    u32* bitmap_a = given.bitmap_a;
    u32* bitmap_b = given.bitmap_b;
    const Graph graph{
        {given.out_offsets, given.out_indices, given.out_resident,
         static_cast<edge_t>(given.out_resident_head), static_cast<edge_t>(given.out_resident_begin)},
        {given.in_offsets, given.in_indices, given.in_resident, static_cast<edge_t>(given.in_resident_head),
         static_cast<edge_t>(given.in_resident_begin)},
        given.first_neighbors,
        given.word_rows,
        n_linked,
        leaf_degree,
#if RANKED
        given.own_offsets
#endif
    };
    const State state{given.distance, given.near, given.predecessor, visited, given.targets, control};
    const Trace trace{given.trace_rows, given.trace_capacity};
    const bool first_thread = global_thread() == 0;
    u32 epoch = __ldcg(&control->epoch);
    if (threadIdx.x == 0) shared.sum = Share{};
    if (first_thread) {
        for (Level& level : control->level) level = Level{};
        for (Level& level : control->queued) level = Level{};
#if RANKED
        for (Level& level : control->taken) level = Level{};
        ranks.meeting->clock = Clock{nanoseconds(), 0, 0, 0};
#endif
    }
    clear(visited, bitmap_a, given.n_vertices);
#if RANKED
    for (i64 i = ranks.words_each() + global_thread(); i < n_words; i += global_threads()) bitmap_a[i] = 0;
#endif
#if LEAN
    for (i64 i = global_thread(); i < n_words; i += global_threads()) given.offered[i] = 0;
#endif
    if (!sync_grid(shared, control, epoch)) return;

    // With several ranks, vertices found go to other places, and a level ends on all ranks together.
    const auto current_queue = [&](Level* level, vertex_t leaf) {
#if RANKED
        return FoundList<OwnList>{listed_now(), level, leaf, ranks.first(), false};
#else
        return GridQueue{narrow_a, hubs_a, level, leaf, false};
#endif
    };
    const auto next_queue = [&](Level* level, bool eager) {
#if RANKED
        return FoundList<OwnList>{listed_next(), level, leaf_degree, ranks.first(), eager};
#else
        return GridQueue{narrow_b, hubs_b, level, leaf_degree, eager};
#endif
    };
    const auto swap_queues = [&]() {
#if RANKED
        lists_swapped = !lists_swapped;
#else
        swap(narrow_a, narrow_b);
        swap(hubs_a, hubs_b);
#endif
    };
    const auto own_part = [&](u32* bitmap) {
#if RANKED
        return ranks.own_part(bitmap);
#else
        return bitmap;
#endif
    };
    const auto end_on_all = [&](Level* level, const Tally& tally, u32 times = 1) {
#if RANKED
        return meet(shared, peers, control, level, tally, epoch, ranks, times);
#else
        return end_level(shared, control, level, tally, epoch, times);
#endif
    };

    // `narrow_a` and `hubs_a`, or `bitmap_a`, hold the current frontier, `now` the totals of its level, and
    // `depth` its distance.
    auto queue = current_queue(&control->level[0], 0);
    Tally tally;
    const bool few_sources = !RANKED && n_sources <= SOLO_EDGES;
    if (!few_sources) {
        for (i64 base = global_thread() - lane_id(); base < n_sources; base += global_threads()) {
            const i64 at = base + lane_id();
            const vertex_t from[1] = {NONE};
            vertex_t to[1] = {at < n_sources ? given.sources[at] : NONE};
#if RANKED
            to[0] = ranks.own(to[0]);
#endif
            push_edges(graph, state, from, to, 0, queue, tally);
        }
#if !RANKED
    } else if (blockIdx.x == 0) {
        const u32 size = static_cast<u32>(n_sources);
        const SoloStart start{given.sources, nullptr, size, 0, 0, depth_limit, n_targets};
        search_alone(graph, state, scratch.solo, start, queue, shared.sum, control->solo, trace);
#endif
    }
#if RANKED
    if (first_thread) ranks.meeting->clock.arrived = nanoseconds();
#endif
    if (!end_on_all(&control->level[0], tally)) return;
#if RANKED
    if (first_thread) ranks.meeting->clock.met = nanoseconds();
#endif
    if (TRACE && !few_sources && first_thread) trace_level(trace, 0, PUSHED, 0, Level{});
    Level now = shared.seen;
    // `n_unvisited` counts linked vertices, less isolated sources: until the end, it only guides the choice
    // of directions; then the isolated vertices are added.
#if RANKED
    u64 unexplored = given.total_edges;
    u64 n_unvisited = given.total_linked;
#else
    u64 unexplored = static_cast<u64>(given.out_offsets[n_linked]);
    u64 n_unvisited = static_cast<u64>(n_linked);
#endif
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

    // Between levels the search is in one of three states, which two flags distinguish:
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
    bool map_clean = true;
    const auto clean_map = [&]() {
        if (map_clean) return true;
        for (i64 i = global_thread(); i < n_words; i += global_threads()) bitmap_a[i] = 0;
        return sync_grid(shared, control, epoch);
    };
    for (u32 turn = 1; depth < depth_limit && !(n_targets && targets_found >= n_targets); ++turn) {
        if (pulling ? now.vertices == 0 : now.narrow + now.hubs == 0) break;
        Level* const next = &control->level[turn % 3];
        if (first_thread) control->level[(turn + 1) % 3] = control->queued[(turn + 1) % 3] = Level{};
#if RANKED
        Level* const taken = &control->taken[turn % 3];
        if (first_thread) control->taken[(turn + 1) % 3] = Level{};
#endif

        // One thread chooses: conversions and comparisons of 64 bits take a block's warps longer than
        // waiting.
        if (threadIdx.x == 0) {
            shared.direction =
                choose_direction(given, swelled, now, unexplored, n_unvisited, n_words, least_pull);
        }
        __syncthreads();
        const auto [pull_work, ending, many, few, swell] = shared.direction;
        bool unsettled = swelled;
        swelled = false;
        if (!pulling && many) {
            pulling = true;
            if (!clean_map()) return;
#if RANKED
            lists_to_bitmap(listed_frontier(), bitmap_a);
            sent = false;
            whole_map = LISTS;
#else
            queue_to_bitmap(narrow_a, now.narrow, hubs_a, n_hubs(now.hubs), bitmap_a);
#endif
            if (!sync_grid(shared, control, epoch)) return;
        } else if (pulling && few) {
            // Queues these vertices and counts their edges.  The totals of the level that found them must not
            // change: another block may still be about to read them.
            Level* const queued = &control->queued[turn % 3];
            const u64 n_found = now.vertices;
            Tally degrees;
            if (unsettled) settle_map(state, own_part(bitmap_a), bitmap_words(graph.n_linked), depth);
            unsettled = false;
            bitmap_to_queue(graph, own_part(bitmap_a), current_queue(queued, leaf_degree),
                            scratch.pull.list[warp_in_block()], degrees);
            if (!end_on_all(queued, degrees)) return;
            now = shared.seen;
            now.vertices = n_found;
            unexplored -= now.edges;
            // The bitmap still holds the frontier, in case the queue is too small for the next one.
            pulling = now.edges > min(pull_work, given.queue_capacity);
            if (!pulling && now.narrow + now.hubs == 0) break;
        }

        const u64 frontier = now.vertices;
        queue = next_queue(next, now.edges <= eager_edges);
        tally = Tally();
        const bool pulled = pulling;
        Exchange exchange = NO_EXCHANGE;
#if RANKED
        // A frontier of few vertices, or of few edges in short rows, is followed as it is listed.
        const bool direct = !LEAN && !pulling && now.narrow <= WARP;
        const bool thin = !LEAN && !pulling && !swell && now.hubs == 0 && now.edges <= THIN_EDGES;
        if (!pulling) {
            const GridQueue rows{narrow_a, hubs_a, taken, 0, false};
#if LEAN
            own_list_to_queue(graph, ranks, peers, listed_now(), rows);
            exchange = OFFERS;
#else
            if (!thin && !direct) lists_to_queue(graph, listed_frontier(), rows);
            exchange = LISTS;
#endif
        } else {
            exchange = whole_map ? whole_map : COPIES;
            if (exchange == COPIES) copy_parts(ranks, bitmap_a);
        }
        const bool from_queue = !pulling && !thin && !direct;
        if (exchange == COPIES && !sync_grid(shared, control, epoch)) return;
        if (from_queue) {
            if (!end_level(shared, control, taken, Tally(), epoch)) return;
            now.narrow = shared.seen.narrow;
            now.hubs = shared.seen.hubs;
            sent = false;
        }
        whole_map = NO_EXCHANGE;
#endif
        // Follows the edges of the frontier.  Returns false if the search has to end.
        const auto push_frontier = [&](const auto& found) {
#if LEAN
            const Outbox outbox{given.offers, given.offered, ranks.meeting->offers,
                                ranks.n_each, ranks.first(), ranks.n,
                                queue.eager};
            Tally offers;
            push_level(graph, state, narrow_a, now.narrow, hubs_a, now.hubs, depth + 1, outbox, offers);
            if (!meet(shared, peers, control, next, offers, epoch, ranks, 1, true, true)) return false;
            claim_offers(graph, state, ranks, peers, given.offers, depth + 1, found, tally);
#else
#if RANKED
            if (direct) {
                push_few(graph, state, listed_frontier(), depth + 1, found, tally);
                sent = false;
                return true;
            }
#endif
            push_level(graph, state, narrow_a, now.narrow, hubs_a, now.hubs, depth + 1, found, tally);
#endif
            return true;
        };
        if (pulling) {
            map_clean = false;
#if RANKED
            const Frontier members{bitmap_a, nullptr, 0};
            // When the search is ending, the next step will push from lists.
            const SentWords send{ranks, own_part(bitmap_b), !ending};
#else
            const Frontier members{bitmap_a, scratch.pull.hubs, min(given.hub_words, n_words)};
            const auto send = [](vertex_t, u32) {};
#endif
            copy_hubs(members, scratch.pull.hubs);
            pull_level(graph, state, members, unsettled ? own_part(bitmap_a) : nullptr, own_part(bitmap_b),
                       hubs_a, depth + 1, next, scratch.pull, queue, ending, send, tally);
            if (!end_level(shared, control, next, tally, epoch)) return;
            u64 deferred = shared.seen.deferred;
            if (RANKED || deferred) {
                Tally late;
                pull_deferred(graph, state, members, own_part(bitmap_b), hubs_a, deferred, depth + 1, late);
                if (!end_on_all(next, late, 2)) return;
                if (RANKED) deferred = shared.seen.deferred;
            }
#if RANKED
            // Deferred vertices were found after their words had been sent, so the parts are copied.
            if (!ending && !deferred) whole_map = WORDS;
#endif
            swap(bitmap_a, bitmap_b);
            swap_queues();
            // Deferred vertices that were found are only in the bitmap.
            pulling = !ending || deferred || shared.seen.edges > pull_work;
#if !RANKED
        } else if (now.hubs == 0 && now.narrow <= SOLO_EDGES && now.edges <= SOLO_EDGES) {
            if (blockIdx.x == 0) {
                const u64 wanted = n_targets ? n_targets - targets_found : 0;
                const u32 size = static_cast<u32>(now.narrow);
                const SoloStart start{nullptr, narrow_a, size, frontier, depth, depth_limit, wanted};
                search_alone(graph, state, scratch.solo, start, queue, shared.sum, control->solo, trace);
            }
            if (!end_level(shared, control, next, Tally(), epoch)) return;
            now = shared.seen;
            count_solo();
            swap_queues();
            continue;
#else
        } else if (thin) {
            const FoundList<Inboxes> sending{inboxes(peers.number + 1), next, leaf_degree, ranks.first(),
                                             queue.eager};
            push_lists(graph, state, listed_frontier(), depth + 1, sending, tally);
            if (!meet(shared, peers, control, next, tally, epoch, ranks, 1, false)) return;
            sent = true;
            swap_queues();
#endif
        } else if (swell) {
            if (!clean_map()) return;
            if (!push_frontier(FrontierMap{own_part(bitmap_a)})) return;
            if (!end_on_all(next, tally, PUSH_PARTS)) return;
            pulling = swelled = true;
            map_clean = false;
        } else {
            if (!push_frontier(queue)) return;
            if (!end_on_all(next, tally, PUSH_PARTS)) return;
            swap_queues();
        }
        now = shared.seen;
        depth += 1;
        count_level(now);
        if (TRACE && first_thread)
            trace_level(trace, depth, pulled ? PULLED : PUSHED, frontier, now, exchange);
    }
    if (swelled) {
        settle_map(state, own_part(bitmap_a), bitmap_words(n_linked), depth);
        if (!sync_grid(shared, control, epoch)) return;
    }
    finish(state, given.n_vertices);
#if RANKED
    stop_clock(ranks);
#endif
    if (first_thread) {
        control->epoch = epoch;
#if RANKED
        ranks.meeting->number = peers.number;
        *given.n_unreached = n_unvisited + given.total_vertices - given.total_linked;
#else
        *given.n_unreached = n_unvisited + static_cast<u64>(given.n_vertices - n_linked);
#endif
    }
    if (TRACE && first_thread) trace.rows[0].frontier = depth;
}
