// Shortest paths by weight in one launch, over rows sorted by weight.
//
// 1. Windows of distances [begin, end), in ascending order.  The vertices of a window push along their edges,
//    round by round, until no distance below `end` falls any more; all of these are then final.
// 2. The first rounds push along whole rows.  From the first large round on, in which hubs take part, an edge
//    is pushed only if it offers less than `bound`: as rows ascend by weight, the rest of the row is skipped.
// 3. Beyond `bound` each vertex pulls once along its own row, until what is left of it cannot help.
// 4. A distance beyond `bound` may still fall because of another one beyond it.  Vertices for which that is
//    possible pull again, until nothing changes.
//
// Thus hubs read only the light ends of their rows, and other vertices only what may shorten their path: some
// tenth of the edges of a graph with skewed degrees.
//
// Invariants.  A distance is the sum of the weights along some path, or FAR.  Weights are not negative and
// rounding is monotone, so no path through a vertex at `begin` or beyond leads below `begin`.  A vertex that
// is settled below `least` has pushed along its whole row; every other vertex offers at least `least` plus a
// weight.
//
// Reference: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, Journal of
// Algorithms 49, 2003; V. Chakaravarthy et al., Scalable single source shortest path algorithms for massively
// parallel systems, IPDPS 2014 (long edges are pulled).
//
// Must agree with: shortest_paths of rapids_trav/programs/shipped.py, on any engine.
#include "grid_barrier.cuh"
#include "sorted_rows.cuh"
#include "unsigned_min.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 512
#endif
#ifndef RESIDENT_BLOCKS
#define RESIDENT_BLOCKS 2
#endif
#ifndef CHUNK
#define CHUNK 256  // edges of a chunk of a row
#endif
#ifndef LONG_ROW
#define LONG_ROW 4096  // from so many edges on, a row is pulled in chunks
#endif

constexpr i32 LANES = 8;         // threads that push along one row
constexpr i32 HEAD_STEPS = 8;    // edges that each of them takes, before the rest is cut into chunks
constexpr i32 SCAN = 4;          // vertices that a thread looks at together
constexpr u32 MANY_ROUNDS = 32;  // a window that takes fewer rounds is followed by a wider one
constexpr i32 PULL_STEPS = 4;    // pairs of edges that a thread pulls before the warp takes over
constexpr distance_t MOST_WIDTH = static_cast<distance_t>(1ll << 60);
constexpr u32 RING = 4;  // rounds whose counts are kept

// Counts of one round.
struct Round {
    u64 listed;  // vertices on its list and, in the upper half, the warps of edges in their rows
    u64 beyond;  // inverted least distance beyond its window, or that changed in a pass; 0: none
    u32 n_chunks;
    u32 n_reached;  // warps in which a vertex had no distance before
};

struct Control {
    Round rounds[RING];
    u32 barrier;
    u32 n_windows;
    u32 n_rounds;
    u32 n_passes;
    u64 core;      // where the window with the first large round began; FAR: there was none
    u32 n_chunks;  // of predecessors
};

struct Arguments {
    const edge_t* out_offsets;  // rows that lead on from a vertex, for pushing
    const Entry* out_entries;
    const edge_t* in_offsets;  // rows that lead to it, for pulling; the same in a symmetric graph
    const Entry* in_entries;
    const vertex_t* sources;
    u64* distance;
    u32* stamps;     // of each vertex: the round on whose list it was put last
    vertex_t* list;  // `capacity` vertices each
    vertex_t* next_list;
    weight_t* lightest;  // of the vertices on a warp's list of step 4, the least weight in the row
    vertex_t* chunk_vertices;
    edge_t* chunk_begins;
    Control* control;
    i64 n_vertices;
    i64 n_sources;
    i64 capacity;
    i64 large;  // a round is large with more warps of edges than this
    u64 width;  // of a window, in the form of a distance
    u64 reach;  // from the window with the first large round to `bound`; 0: there is no bound
};

// State of a thread that is the same in all of them.
struct Grid {
    Control* control;
    u32 epoch;
    u32 number;  // of the current round

    __device__ __forceinline__ void synchronize() {
        __syncthreads();
        if (threadIdx.x == 0) arrive_and_wait(&control->barrier, epoch);
        __syncthreads();
    }

    // Returns the counts of the next round, and clears those of the round after it.
    __device__ __forceinline__ Round* next_round() {
        ++number;
        if (global_thread() == 0) control->rounds[(number + 1) % RING] = Round{};
        return &control->rounds[number % RING];
    }
};

__device__ __forceinline__ i64 row_warps(i64 n_edges) {
    return (n_edges + WARP - 1) / WARP;
}

// Reserves places on a list for each lane that has `n` vertices with rows of `warps` in all; the whole warp
// calls it.  Returns where the warp's places begin.
__device__ __forceinline__ i64 reserve(Round* round, i32 n_of_warp, i64 warps) {
    for (i32 step = WARP / 2; step > 0; step /= 2) warps += __shfl_xor_sync(FULL_WARP, warps, step);
    u64 base = 0;
    if (lane_id() == 0) {
        base = atomicAdd(&round->listed, static_cast<u64>(warps) << 32 | static_cast<u64>(n_of_warp));
    }
    return static_cast<i64>(__shfl_sync(FULL_WARP, base, 0) & 0xffffffffu);
}

// Puts the vertices of the lanes that have one on a list; the whole warp calls it.
__device__ __forceinline__ void append(const Arguments& a, bool has, vertex_t vertex, vertex_t* list,
                                       Round* round) {
    const u32 those = __ballot_sync(FULL_WARP, has);
    if (those == 0) return;
    const i64 base = reserve(round, __popc(those), has ? row_warps(degree(a.out_offsets, vertex)) : 0);
    if (has) list[base + __popc(those & lanes_below())] = vertex;
}

// Offers the edge's end a distance, and lists the end if that is below `end`.  Returns whether the offer is
// below `bound`.  The whole warp calls it; lanes that are not `on` have no edge.
__device__ __forceinline__ bool push(const Arguments& a, bool on, i64 edge, u64 distance, u64 bound, u64 end,
                                     u32 stamp, Round* round) {
    bool below = false;
    bool listed = false;
    vertex_t to = 0;
    if (on) {
        const Entry entry = a.out_entries[edge];
        const u64 offered = offer(distance, entry.weight);
        to = entry.vertex;
        below = offered < bound;
        if (below && offered < a.distance[to]) {
            const u64 before = atomicMin(&a.distance[to], offered);
            if (offered < before && offered < end) listed = atomicMax(&a.stamps[to], stamp) < stamp;
        }
    }
    append(a, listed, to, a.next_list, round);
    return below;
}

// Returns the first edge of [first, last) that does not offer less than `bound`; the whole warp calls it.
__device__ __forceinline__ i64 end_of_offers(const Entry* entries, u64 distance, u64 bound, i64 first,
                                             i64 last) {
    while (first < last) {
        const i64 step = (last - first + WARP - 1) / WARP;
        const i64 edge = first + step * (lane_id() + 1) - 1;
        const bool below = edge < last && offer(distance, entries[edge].weight) < bound;
        first += step * __popc(__ballot_sync(FULL_WARP, below));
        if (first + step - 1 < last) last = first + step - 1;
    }
    return first;
}

// Lists the vertices of the window [begin, end), and notes the least distance beyond it.
__device__ __forceinline__ void list_window(const Arguments& a, u64 begin, u64 end, Round* round) {
    const i64 stride = SCAN * global_threads();
    u64 beyond = FAR;
    for (i64 base = global_thread() / WARP * WARP * SCAN; base < a.n_vertices; base += stride) {
        u32 those[SCAN];
        i32 n = 0;
        i64 warps = 0;
        u64 distance[SCAN];
#pragma unroll
        for (i32 i = 0; i < SCAN; ++i) {
            const i64 v = base + i * WARP + lane_id();
            distance[i] = v < a.n_vertices ? a.distance[v] : FAR;
        }
#pragma unroll
        for (i32 i = 0; i < SCAN; ++i) {
            const i64 v = base + i * WARP + lane_id();
            const bool inside = distance[i] >= begin && distance[i] < end;
            if (inside) warps += row_warps(degree(a.out_offsets, static_cast<vertex_t>(v)));
            if (distance[i] >= end && distance[i] < beyond) beyond = distance[i];
            those[i] = __ballot_sync(FULL_WARP, inside);
            n += __popc(those[i]);
        }
        if (n == 0) continue;
        i64 place = reserve(round, n, warps);
#pragma unroll
        for (i32 i = 0; i < SCAN; ++i) {
            if (those[i] >> lane_id() & 1) {
                a.list[place + __popc(those[i] & lanes_below())] =
                    static_cast<vertex_t>(base + i * WARP + lane_id());
            }
            place += __popc(those[i]);
        }
    }
    beyond = warp_min(beyond);
    if (lane_id() == 0 && beyond < FAR) atomicMax(&round->beyond, ~beyond);
}

// Lists the edges [begin, end) of a row in chunks; the whole warp calls it.
__device__ __forceinline__ void cut(const Arguments& a, vertex_t row, i64 begin, i64 end, u32* n_listed) {
    const i64 n_chunks = (end - begin + CHUNK - 1) / CHUNK;
    u32 place = 0;
    if (lane_id() == 0 && n_chunks > 0) place = atomicAdd(n_listed, static_cast<u32>(n_chunks));
    place = __shfl_sync(FULL_WARP, place, 0);
    for (i64 chunk = lane_id(); chunk < n_chunks; chunk += WARP) {
        a.chunk_vertices[place + chunk] = row;
        a.chunk_begins[place + chunk] = static_cast<edge_t>(begin + chunk * CHUNK);
    }
}

// Pushes along the heads of the listed rows; cuts the rest of their offers below `bound` into chunks.
__device__ __forceinline__ void push_heads(const Arguments& a, i64 n, u64 bound, u64 end, u32 stamp,
                                           Round* round) {
    constexpr i32 ROWS = WARP / LANES;
    const i64 stride = global_threads() / LANES;
    const i32 lane = lane_id() % LANES;
    for (i64 base = global_thread() / WARP * ROWS; base < n; base += stride) {
        const i64 i = base + lane_id() / LANES;
        vertex_t v = 0;
        i64 first = 0;
        i64 last = 0;
        u64 distance = 0;
        if (i < n) {
            v = a.list[i];
            first = a.out_offsets[v];
            last = a.out_offsets[v + 1];
            distance = a.distance[v];
        }
        bool on = first + lane < last;
        bool goes_on = false;  // whether the row's last offer so far was below the bound
        for (i32 step = 0; step < HEAD_STEPS; ++step) {
            const bool below = push(a, on, first + lane, distance, bound, end, stamp, round);
            goes_on = __ballot_sync(FULL_WARP, below) >> (lane_id() / LANES * LANES + LANES - 1) & 1;
            first += LANES;
            on = goes_on && first + lane < last;
            goes_on = goes_on && first < last;
            if (!__any_sync(FULL_WARP, on)) break;
        }
        u32 longer = __ballot_sync(FULL_WARP, goes_on && lane == 0);
        while (longer != 0) {
            const i32 owner = __ffs(static_cast<i32>(longer)) - 1;
            longer &= longer - 1;
            const vertex_t row = __shfl_sync(FULL_WARP, v, owner);
            const i64 begin = __shfl_sync(FULL_WARP, first, owner);
            const i64 after = end_of_offers(a.out_entries, __shfl_sync(FULL_WARP, distance, owner), bound,
                                            begin, __shfl_sync(FULL_WARP, last, owner));
            cut(a, row, begin, after, &round->n_chunks);
        }
    }
}

// Pushes along chunks of rows, a warp along each.
__device__ __forceinline__ void push_chunks(const Arguments& a, i64 n_chunks, u64 bound, u64 end, u32 stamp,
                                            Round* round) {
    const i64 stride = global_threads() / WARP;
    for (i64 i = global_thread() / WARP; i < n_chunks; i += stride) {
        const vertex_t v = a.chunk_vertices[i];
        const i64 first = a.chunk_begins[i];
        const i64 row_end = a.out_offsets[v + 1];
        const i64 last = first + CHUNK < row_end ? first + CHUNK : row_end;
        const u64 distance = a.distance[v];
        for (i64 edge = first + lane_id(); edge - lane_id() < last; edge += WARP) {
            const bool below = push(a, edge < last, edge, distance, bound, end, stamp, round);
            if (!__shfl_sync(FULL_WARP, below, WARP - 1)) break;
        }
    }
}

// Returns the least of `best` and the offers to the vertex whose row is [edge, end).  Neighbours whose
// distances could still matter have at least `least`.  The whole warp calls it, each lane with its own row,
// empty if it has none: the lane reads the head of its row alone, and the warp the tails one after another.
__device__ __forceinline__ u64 pull(const Arguments& a, i64 edge, i64 end, u64 least, u64 best) {
    const Entry* entries = a.in_entries;
    bool more = edge < end;
    for (i32 step = 0; step < PULL_STEPS; ++step) {
        if (more) {
            const Entry one = entries[edge];
            const Entry other = edge + 1 < end ? entries[edge + 1] : one;
            more = offer(least, one.weight) < best;
            if (more) {
                const bool two = edge + 1 < end && offer(least, other.weight) < best;
                const u64 of_one = a.distance[one.vertex];
                const u64 of_other = two ? a.distance[other.vertex] : FAR;
                const u64 first = offer(of_one, one.weight);
                const u64 second = offer(of_other, other.weight);
                if (first < best) best = first;
                if (second < best) best = second;
                edge += 2;
                more = two && edge < end;
            }
        }
        if (!__any_sync(FULL_WARP, more)) return best;
    }
    u32 longer = __ballot_sync(FULL_WARP, more);
    while (longer != 0) {
        const i32 owner = __ffs(static_cast<i32>(longer)) - 1;
        longer &= longer - 1;
        const i64 last = __shfl_sync(FULL_WARP, end, owner);
        u64 found = __shfl_sync(FULL_WARP, best, owner);
        for (i64 base = __shfl_sync(FULL_WARP, edge, owner); base < last; base += WARP) {
            u64 offered = FAR;
            bool helps = false;
            if (base + lane_id() < last) {
                const Entry entry = entries[base + lane_id()];
                helps = offer(least, entry.weight) < found;
                if (helps) offered = offer(a.distance[entry.vertex], entry.weight);
            }
            if (__any_sync(FULL_WARP, offered < found)) {
                offered = warp_min(offered);
                if (offered < found) found = offered;
            }
            if (!__shfl_sync(FULL_WARP, helps, WARP - 1)) break;
        }
        if (lane_id() == owner) best = found;
    }
    return best;
}

// Step 3: each vertex beyond the bound pulls.  Returns the number of vertices that the warp keeps on its
// list, `list` and `lightest` from `own` on, since others beyond the bound may still help them.
__device__ __forceinline__ i64 pull_all(const Arguments& a, u64 bound, u64 least, i64 own, Round* round) {
    i64 kept = 0;
    bool reached = false;
    for (i64 base = global_thread() / WARP * WARP; base < a.n_vertices; base += global_threads()) {
        const i64 v = base + lane_id();
        const u64 before = v < a.n_vertices ? a.distance[v] : 0;
        const bool open = before >= bound;
        if (!__any_sync(FULL_WARP, open)) continue;
        i64 edge = 0;
        i64 end = 0;
        if (open) {
            edge = a.in_offsets[v];
            end = a.in_offsets[v + 1];
        }
        const bool is_long = end - edge > LONG_ROW;
        for (u32 those = __ballot_sync(FULL_WARP, is_long); those != 0; those &= those - 1) {
            const i32 owner = __ffs(static_cast<i32>(those)) - 1;
            const i64 first = __shfl_sync(FULL_WARP, edge, owner);
            const i64 last = end_of_offers(a.in_entries, least, __shfl_sync(FULL_WARP, before, owner), first,
                                           __shfl_sync(FULL_WARP, end, owner));
            cut(a, static_cast<vertex_t>(base + owner), first, last, &round->n_chunks);
        }
        const u64 best = pull(a, edge, is_long ? edge : end, least, before);
        if (open && best < before) a.distance[v] = best;
        reached |= is_long || (before == FAR && best < FAR);
        const weight_t weight = edge < end ? a.in_entries[edge].weight : weight_t{};
        const bool keep = edge < end && (is_long || offer(bound, weight) < best);
        const u32 those = __ballot_sync(FULL_WARP, keep);
        if (keep) {
            const i64 place = own + kept + __popc(those & lanes_below());
            a.list[place] = static_cast<vertex_t>(v);
            a.lightest[place] = weight;
        }
        kept += __popc(those);
    }
    if (__any_sync(FULL_WARP, reached) && lane_id() == 0) atomicAdd(&round->n_reached, 1u);
    return kept;
}

// Pulls along chunks of long rows, a warp along each.
__device__ __forceinline__ void pull_chunks(const Arguments& a, i64 n_chunks, u64 least) {
    const i64 stride = global_threads() / WARP;
    for (i64 i = global_thread() / WARP; i < n_chunks; i += stride) {
        const vertex_t v = a.chunk_vertices[i];
        const i64 first = a.chunk_begins[i];
        const i64 row_end = a.in_offsets[v + 1];
        const u64 before = a.distance[v];
        u64 best = before;
        for (i64 edge = first + lane_id(); edge < first + CHUNK && edge < row_end; edge += WARP) {
            const Entry entry = a.in_entries[edge];
            if (offer(least, entry.weight) >= best) break;
            const u64 offered = offer(a.distance[entry.vertex], entry.weight);
            if (offered < best) best = offered;
        }
        best = warp_min(best);
        if (lane_id() == 0 && best < before) atomicMin(&a.distance[v], best);
    }
}

// Step 4, one pass: the vertices on the warp's list pull.  Only a distance that changed in the pass before
// can help, and all of these are at least `least`.  Vertices without a distance are dropped once a pass has
// reached none (`drops_far`): then no neighbour of theirs has a distance.  Returns how many vertices the warp
// keeps.
__device__ __forceinline__ i64 pull_again(const Arguments& a, u64 least, bool drops_far, i64 own, i64 n,
                                          Round* round) {
    i64 kept = 0;
    u64 changed = FAR;
    bool reached = false;
    for (i64 base = 0; base < n; base += WARP) {
        const i64 i = own + base + lane_id();
        vertex_t v = 0;
        weight_t weight{};
        u64 before = 0;
        bool open = base + lane_id() < n;
        if (open) {
            v = a.list[i];
            weight = a.lightest[i];
            before = a.distance[v];
            open = offer(least, weight) < before && !(drops_far && before == FAR);
        }
        if (!__any_sync(FULL_WARP, open)) continue;
        i64 edge = 0;
        i64 end = 0;
        if (open) {
            edge = a.in_offsets[v];
            end = a.in_offsets[v + 1];
        }
        const u64 best = pull(a, edge, end, least, before);
        if (open && best < before) {
            a.distance[v] = best;
            if (best < changed) changed = best;
            reached |= before == FAR;
        }
        const bool keep = open && offer(least, weight) < best;
        const u32 those = __ballot_sync(FULL_WARP, keep);
        if (keep) {
            const i64 place = own + kept + __popc(those & lanes_below());
            a.list[place] = v;
            a.lightest[place] = weight;
        }
        kept += __popc(those);
    }
    changed = warp_min(changed);
    if (lane_id() == 0 && changed < FAR) atomicMax(&round->beyond, ~changed);
    if (__any_sync(FULL_WARP, reached) && lane_id() == 0) atomicAdd(&round->n_reached, 1u);
    return kept;
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, RESIDENT_BLOCKS) sorted_paths(Arguments a) {
    Grid grid{a.control, 0, 0};
    Control* control = a.control;
    for (i64 v = global_thread(); v < a.n_vertices; v += global_threads()) {
        a.distance[v] = FAR;
        a.stamps[v] = 0;
    }
    grid.synchronize();
    for (i64 i = global_thread(); i < a.n_sources; i += global_threads()) a.distance[a.sources[i]] = 0;
    grid.synchronize();

    u64 begin = 0;
    u64 bound = FAR;
    u64 least = 0;
    u64 core = FAR;
    u32 n_windows = 0;
    distance_t width = number_of(a.width);
    bool pulls = false;
    while (true) {
        ++n_windows;
        u64 end = sum(begin, width);
        if (end <= begin) end = begin + 1;  // the width is lost in rounding
        if (end > bound) end = bound;
        Round* round = grid.next_round();
        list_window(a, begin, end, round);
        grid.synchronize();
        i64 n = static_cast<i64>(round->listed & 0xffffffffu);
        i64 warps = static_cast<i64>(round->listed >> 32);
        if (n == 0) {
            const u64 beyond = ~round->beyond;
            if (round->beyond == 0 || beyond >= bound) {
                pulls = bound < FAR;
                break;
            }
            begin = beyond;
            continue;
        }
        const u32 first_round = grid.number;
        while (n > 0) {
            if (core == FAR && warps > a.large) {
                core = begin;
                if (a.reach > 0) {
                    bound = sum(begin, number_of(a.reach));
                    least = begin;
                    const u64 nearer = sum(begin, width);
                    if (nearer > begin && nearer < end) end = nearer;
                    if (end > bound) end = bound;
                }
            }
            round = grid.next_round();
            push_heads(a, n, bound, end, grid.number, round);
            grid.synchronize();
            if (round->n_chunks > 0) {
                push_chunks(a, round->n_chunks, bound, end, grid.number, round);
                grid.synchronize();
            }
            n = static_cast<i64>(round->listed & 0xffffffffu);
            warps = static_cast<i64>(round->listed >> 32);
            swap(a.list, a.next_list);
        }
        if (a.reach == 0 && grid.number - first_round < MANY_ROUNDS && width < MOST_WIDTH) width += width;
        begin = end;
        if (end >= bound) {
            pulls = bound < FAR;
            break;
        }
    }

    u32 n_passes = 0;
    if (pulls) {
        const i64 own = global_thread() / WARP * (a.capacity / (global_threads() / WARP));
        Round* round = grid.next_round();
        i64 kept = pull_all(a, bound, least, own, round);
        u64 changed = bound;
        grid.synchronize();
        if (round->n_chunks > 0) {
            pull_chunks(a, round->n_chunks, least);
            grid.synchronize();
        }
        while (changed < FAR) {
            ++n_passes;
            const bool drops_far = round->n_reached == 0;
            round = grid.next_round();
            kept = pull_again(a, changed, drops_far, own, kept, round);
            grid.synchronize();
            changed = round->beyond == 0 ? FAR : ~round->beyond;
        }
    }
    if (global_thread() == 0) {
        control->n_windows = n_windows;
        control->n_rounds = grid.number;
        control->n_passes = n_passes;
        control->core = core;
    }
}

// Predecessors: for each reached vertex v the smallest nearer u with distance[u] + weight == distance[v].
//
// Where hubs came into the search (`core`), few vertices were settled.  These push along their whole rows.
// From all others, only edges with core + weight <= distance[v] can lead to v: its row is read up to there.
// Long parts of rows are cut into chunks for a second kernel.

__device__ __forceinline__ u64 core_of(const Arguments& a) {
    return a.control->core == FAR ? 0 : a.control->core;
}

__device__ __forceinline__ unsigned_t tight(const Arguments& a, const Entry& entry, u64 own) {
    const u64 of = a.distance[entry.vertex];
    const bool is_tight = of < own && offer(of, entry.weight) == own;
    return static_cast<unsigned_t>(is_tight ? entry.vertex : NONE);
}

__device__ __forceinline__ unsigned_t warp_smallest(unsigned_t value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) {
        const unsigned_t other = __shfl_xor_sync(FULL_WARP, value, step);
        if (other < value) value = other;
    }
    return value;
}

// Offers v as predecessor along the edges [first, last) of its row, each lane along every 32nd.
__device__ __forceinline__ void offer_predecessor(const Arguments& a, vertex_t* predecessors, vertex_t v,
                                                  i64 first, i64 last) {
    const u64 own = a.distance[v];
    for (i64 edge = first + lane_id(); edge < last; edge += WARP) {
        const Entry entry = a.out_entries[edge];
        const u64 to = a.distance[entry.vertex];
        if (own < to && to < FAR && offer(own, entry.weight) == to) {
            keep_smallest(&predecessors[entry.vertex], v);
        }
    }
}

// Returns the smallest vertex with a tight edge among [first, last) of a row; the whole warp calls it.
__device__ __forceinline__ unsigned_t smallest_tight(const Arguments& a, u64 core, u64 own, i64 first,
                                                     i64 last) {
    unsigned_t smallest = static_cast<unsigned_t>(NONE);
    for (i64 edge = first + lane_id(); edge < last; edge += WARP) {
        const Entry entry = a.in_entries[edge];
        if (offer(core, entry.weight) > own) break;
        const unsigned_t from = tight(a, entry, own);
        if (from < smallest) smallest = from;
    }
    return warp_smallest(smallest);
}

// `predecessors` are NONE before.
extern "C" __global__ void head_predecessors(Arguments a, vertex_t* predecessors) {
    constexpr i32 HEAD = 8;
    constexpr i64 AT_ONCE = 4 * CHUNK;
    const u64 core = core_of(a);
    for (i64 base = global_thread() / WARP * WARP; base < a.n_vertices; base += global_threads()) {
        const i64 v = base + lane_id();
        const u64 own = v < a.n_vertices ? a.distance[v] : FAR;
        const bool pushes = own < core;
        i64 edge = 0;
        i64 end = 0;
        if (own < FAR) {
            edge = a.in_offsets[v];
            end = a.in_offsets[v + 1];
        }
        unsigned_t smallest = static_cast<unsigned_t>(NONE);
        bool more = edge < end;
        // Vertices before the core find theirs along their whole rows, which are short.
        const u64 from = pushes ? 0 : core;
        for (i32 step = 0; step < HEAD && __any_sync(FULL_WARP, more); ++step) {
            if (!more) continue;
            const Entry entry = a.in_entries[edge++];
            more = offer(from, entry.weight) <= own && edge < end;
            const unsigned_t found = tight(a, entry, own);
            if (found < smallest) smallest = found;
        }
        for (u32 longer = __ballot_sync(FULL_WARP, more); longer != 0; longer &= longer - 1) {
            const i32 owner = __ffs(static_cast<i32>(longer)) - 1;
            const i64 first = __shfl_sync(FULL_WARP, edge, owner);
            i64 last = __shfl_sync(FULL_WARP, end, owner);
            const u64 wanted = __shfl_sync(FULL_WARP, own, owner);
            const u64 least = __shfl_sync(FULL_WARP, from, owner);
            if (last - first > AT_ONCE) {
                last = end_of_offers(a.in_entries, least, wanted + 1, first, last);
                if (last - first > AT_ONCE) {
                    cut(a, static_cast<vertex_t>(base + owner), first, last, &a.control->n_chunks);
                    continue;
                }
            }
            const unsigned_t found = smallest_tight(a, least, wanted, first, last);
            if (lane_id() == owner && found < smallest) smallest = found;
        }
        if (smallest != static_cast<unsigned_t>(NONE)) {
            keep_smallest(&predecessors[v], static_cast<vertex_t>(smallest));
        }
        for (u32 those = __ballot_sync(FULL_WARP, pushes); those != 0; those &= those - 1) {
            const vertex_t row = static_cast<vertex_t>(base + __ffs(static_cast<i32>(those)) - 1);
            offer_predecessor(a, predecessors, row, a.out_offsets[row], a.out_offsets[row + 1]);
        }
    }
}

extern "C" __global__ void chunk_predecessors(Arguments a, vertex_t* predecessors) {
    const u64 core = core_of(a);
    const i64 n_chunks = a.control->n_chunks;
    for (i64 i = global_thread() / WARP; i < n_chunks; i += global_threads() / WARP) {
        const vertex_t v = a.chunk_vertices[i];
        const i64 first = a.chunk_begins[i];
        const i64 row_end = a.in_offsets[v + 1];
        const i64 last = first + CHUNK < row_end ? first + CHUNK : row_end;
        const u64 own = a.distance[v];
        const unsigned_t found = smallest_tight(a, own < core ? 0 : core, own, first, last);
        if (lane_id() == 0 && found != static_cast<unsigned_t>(NONE)) {
            keep_smallest(&predecessors[v], static_cast<vertex_t>(found));
        }
    }
}
