// State that the blocks of one fused search share: queues, bitmaps, totals of levels, arguments and answer.
// fused_level.cuh synchronises the blocks once a level.
#pragma once
#include "common.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 1024
#endif
// A vertex with more edges than this is a hub; its edges are distributed in chunks of this size.
#ifndef HUB_DEGREE
#define HUB_DEGREE 128
#endif
// Frontiers with at most this many vertices and edges are searched by one block, with no grid-wide barrier.
#ifndef SOLO_EDGES
#define SOLO_EDGES 1024
#endif
// Edges that a lane has in flight at once.
#ifndef UNROLL
#define UNROLL 2
#endif
// As UNROLL, for the rows of hubs in a push to a bitmap, which takes fewer registers for an edge.
#ifndef MAP_UNROLL
#define MAP_UNROLL (EDGE_BITS == 32 ? 4 : UNROLL)
#endif
#ifndef PREDECESSORS
#define PREDECESSORS 1
#endif
#ifndef TRACE
#define TRACE 0
#endif
#ifndef PAGED
#define PAGED 0
#endif
// With 1 the launch is one of several, one on each of a graph's ranks, which search together
// (fused_meeting.cuh).
#ifndef RANKED
#define RANKED 0
#endif
// With 1 the graph is symmetric, and ranks have only the rows of their own vertices (fused_offers.cuh).
#ifndef LEAN
#define LEAN 0
#endif

constexpr i32 WARPS = BLOCK_SIZE / WARP;
constexpr u32 BATCH = WARP * UNROLL;  // edges that a warp has in flight at once

// A frontier vertex with the range of its edges, so that a level starts without looking it up again.
struct alignas(16) NarrowItem {
    edge_t begin;
    vertex_t vertex;
    u32 degree;
};

// A frontier vertex whose edges many warps share: `first_chunk` counts the chunks of all hubs before it.
struct alignas(16) HubItem {
    u64 first_chunk;
    vertex_t vertex;
};

// Whether a level's totals have, in their lowest bits, the number of blocks that have added to them
// (fused_level.cuh): up to 2047 blocks, each of them twice.  With offsets of 64 bits the lists of hubs need
// those bits.
#ifndef COUNTED
#define COUNTED (EDGE_BITS == 32)
#endif
constexpr i32 ARRIVAL_BITS = COUNTED ? 12 : 0;

// The length of a list of hubs and the sum of their chunks, in one word, so that one atomic reserves both.
constexpr i32 CHUNK_BITS = EDGE_BITS == 32 ? 26 : 36;
__device__ __forceinline__ u64 n_hubs(u64 packed) {
    return packed >> CHUNK_BITS;
}
__device__ __forceinline__ u64 n_chunks(u64 packed) {
    return packed & ((1ull << CHUNK_BITS) - 1);
}

// Totals of one level.  Three rotate: one is read, one is written and one is cleared, so that a level needs a
// single barrier.  In global memory, the first TOTALS are `ARRIVAL_BITS` further up in their words.
struct Level {
    u64 narrow;     // vertices appended to the queue
    u64 hubs;       // hubs appended, and their chunks
    u64 vertices;   // vertices reached
    u64 edges;      // out-edges of the vertices queued
    u64 targets;    // targets reached
    u64 deferred;   // hubs that a pull step deferred, and their chunks
    u64 examined;   // edges read (only with TRACE)
    u64 from_host;  // edges read over the bus (only with TRACE and PAGED)
#if TRACE
    u64 hub_hits;  // look-ups that the hub cache answered
    u64 looked;    // unvisited vertices that a pull step examined
#endif
};

constexpr u32 TOTALS = 6;  // those that a search needs

// Adds to one of the first totals of a level, and returns the sum before; the blocks' shares come later.
__device__ __forceinline__ u64 reserve(u64* total, u64 amount) {
    return atomicAdd(total, amount << ARRIVAL_BITS) >> ARRIVAL_BITS;
}

// State at the end of a search by one block.
struct Solo {
    u64 depth;
    u64 vertices;
    u64 edges;
    u64 targets;
};

// Zero before the first search that uses it.  A search ends with `epoch` equal to `barrier`, and the next
// search on the same stream counts on from there, so nothing has to be cleared in between.  They
// come first because they must have the same address in a traced search, whose levels are larger.
struct Control {
    u32 barrier;
    u32 epoch;
    alignas(128) Level level[3];  // on another cache line than the barrier
    Level queued[3];  // totals of frontiers that are moved from the bitmap to the queues; they rotate too
    Solo solo;
#if RANKED
    Level taken[3];  // totals of lists of other ranks that are moved to the queues; they rotate too
#endif
};

// Kind of step that produced a level.
enum Step { PUSHED, PULLED, PUSHED_ALONE };

// How a rank took the frontier from the others before a step.
enum Exchange { NO_EXCHANGE, LISTS, COPIES, WORDS, OFFERS };

struct TraceRow {
    i64 step;
    i64 frontier;
    i64 hub_hits;
    i64 looked;
    i64 examined;
    i64 from_host;
    i64 nanoseconds;
};

struct Trace {
    TraceRow* rows;
    u32 capacity;
};

// A count of vertices or edges.  Where 32 bits suffice they are added in shared memory by one instruction;
// 64 bits take a loop, in which the warps of a block wait for each other.
#if VERTEX_BITS == 32 && EDGE_BITS == 32
using count_t = u32;
#else
using count_t = u64;
#endif

// A block's share of a level's totals, in the order of `Level`.
struct Share {
    count_t vertices;
    count_t edges;
    count_t targets;
#if TRACE
    u64 examined;
    u64 from_host;
    u64 hub_hits;
    u64 looked;
#endif
};

// One thread's share of a level's totals.
struct Tally {
    u32 vertices = 0;
    u32 targets = 0;
    count_t edges = 0;
    u64 examined = 0;
    u64 from_host = 0;
#if TRACE
    u64 hub_hits = 0;
    u64 looked = 0;
#endif
};

// The rows of an adjacency.  With PAGED, `indices` is in host memory, which the device reads over the bus.
// Device memory then has copies of two parts, one after the other: the indices before `resident_head`, and
// those from `resident_begin` on.
struct Rows {
    const edge_t* offsets;
    const vertex_t* indices;
    const vertex_t* resident;
    edge_t resident_head;
    edge_t resident_begin;

    __device__ __forceinline__ vertex_t neighbor(edge_t edge, Tally& tally) const {
        if (PAGED && edge < resident_head) return resident[edge];
        if (PAGED && edge >= resident_begin) return resident[edge - resident_begin + resident_head];
        if (PAGED && TRACE) tally.from_host += 1;
        return indices[edge];
    }
};

// The rows of the vertices of a bitmap word, if all have the same length; otherwise `degree` is 0.
struct alignas(2 * sizeof(edge_t)) WordRows {
    edge_t begin;
    edge_t degree;
};

struct Graph {
    Rows out;
    Rows in;
    const vertex_t* first_neighbors;  // of each row of `in`; see neighbor_in()
    const WordRows* word_rows;        // of each word of `in`
    vertex_t n_linked;                // vertices from this one on have no edges (docs/systems.md, V5)
    vertex_t leaf_degree;             // a vertex with no more out-edges than this leads nowhere new
#if RANKED
    const edge_t* own_offsets;  // out-edges of own vertices on all ranks; `out` has the sources of all ranks
#endif

    // Offsets that give the degree of a vertex that was reached.
    __device__ __forceinline__ const edge_t* reached_offsets() const {
#if RANKED
        return own_offsets;
#else
        return out.offsets;
#endif
    }
};

struct State {
    i32* distance;
    u8* near;  // distances below FAR; the others are written to `distance` directly
    vertex_t* predecessor;
    u32* visited;
    const u32* targets;  // bitmap, or null
    Control* control;
};

#if RANKED
struct Shared;
struct Meeting;
struct Offer;
#endif

// Arguments from the host, which reads the fields here.
struct Arguments {
    const edge_t* out_offsets;
    const vertex_t* out_indices;
    const vertex_t* out_resident;
    i64 out_resident_head;
    i64 out_resident_begin;
    const edge_t* in_offsets;
    const vertex_t* in_indices;
    const vertex_t* in_resident;
    i64 in_resident_head;
    i64 in_resident_begin;
    const vertex_t* first_neighbors;
    const WordRows* word_rows;
    const vertex_t* sources;
    const u32* targets;
    u64 n_targets;
    u64 queue_capacity;
    u64 least_pull;  // with at most this many edges in a frontier, the ratio does not start pulling
    i32* distance;
    vertex_t* predecessor;
    u64* n_unreached;
    u8* near;
    u32* visited;
    u32* bitmap_a;
    u32* bitmap_b;
    NarrowItem* narrow_a;
    NarrowItem* narrow_b;
    HubItem* hubs_a;
    HubItem* hubs_b;
    Control* control;
    TraceRow* trace_rows;
    vertex_t n_vertices;
    vertex_t n_linked;
    vertex_t n_sources;
    vertex_t leaf_degree;
    vertex_t hub_words;
    i32 depth_limit;
    float alpha;
    float beta;
    float neighbor_degree;
    u32 trace_capacity;
#if RANKED
    const edge_t* own_offsets;
    vertex_t* listed_a;  // with the bitmaps and `listed_b`, in memory that other ranks can reach
    vertex_t* listed_b;
    u64* inbox;             // there too
    Offer* offers;          // there too, a box for each rank (LEAN)
    u32* offered;           // ids that were offered (LEAN)
    Shared* const* shared;  // of each rank, as this one reaches it
    Meeting* meeting;
    u64 deadline;        // nanoseconds for which a rank waits for the others
    u64 total_vertices;  // of all ranks, as the following
    u64 total_linked;
    u64 total_edges;
    vertex_t n_each;  // ids of a rank; a multiple of 128
    i32 rank;
    i32 n_ranks;
#endif
};

// The warps of the grid are numbered so that neighbours run on different multiprocessors; even a little work
// is then divided among all of them.
__device__ __forceinline__ u32 warp_in_block() {
    return threadIdx.x / WARP;
}

__device__ __forceinline__ u64 grid_warp() {
    return static_cast<u64>(warp_in_block()) * gridDim.x + blockIdx.x;
}

__device__ __forceinline__ u64 grid_warps() {
    return static_cast<u64>(gridDim.x) * WARPS;
}

// Words of a bitmap with a bit for each vertex, a vertex's word in it, and its bit in that word.
__device__ __forceinline__ vertex_t bitmap_words(vertex_t n_vertices) {
    return (n_vertices - 1) / 32 + 1;  // n_vertices is at least 1; (n + 31) would overflow
}

__device__ __forceinline__ vertex_t word_of(vertex_t v) {
    return v >> 5;
}

__device__ __forceinline__ u32 bit_of(vertex_t v) {
    return 1u << (v & 31);
}

// Most distances fit into a byte.  Writes of bytes are more often to the same sector as other recent writes,
// and the cache has room for four times as many distances.  Distances from FAR on are written in full.
constexpr i32 FAR = 255;

// Records the predecessor of `v`, which was just claimed.
__device__ __forceinline__ void claim(const State& state, vertex_t v, vertex_t from, Tally& tally) {
#if PREDECESSORS
    state.predecessor[v] = from;
#endif
    tally.vertices += 1;
    if (state.targets && (state.targets[v >> 5] >> (v & 31) & 1)) tally.targets += 1;
}

// Records the distance of `v`.
__device__ __forceinline__ void measure(const State& state, vertex_t v, i32 depth) {
    state.near[v] = static_cast<u8>(min(depth, FAR));
    if (depth >= FAR) state.distance[v] = depth;
}

// Records that `v`, which was just claimed, was reached from `from`.
__device__ __forceinline__ void reach(const State& state, vertex_t v, vertex_t from, i32 depth,
                                      Tally& tally) {
    measure(state, v, depth);
    claim(state, v, from, tally);
}
