// Blocks of edges and their items: arguments of the kernels, and what waits for a block.
//
// A block is a run of 1 << shift consecutive edges of the out-rows; an item is the part of a row in one
// block, and its number is the vertex plus the block (rapids_trav/engines/blocks/cut.py).
#pragma once
#include "gas_reduce.cuh"
#include "rows.cuh"

#ifndef MOST_BLOCKS
#define MOST_BLOCKS 256
#endif

[[maybe_unused]] constexpr i32 ABSENT = -1;  // in `places`; COMING is -2

// Columns of `counts`, as in rapids_trav/engines/blocks/schedule.py.
enum BlockCount { WAITING, WAITING_EDGES, LISTED, ACTIVATED, SPENT, N_COUNTS = 8 };

// Lengths of a queue: of its list of short items, and of its list of chunks; and the number of items that the
// round which filled it has left put off.
struct Sizes {
    u64 items;
    u64 chunks;
    u64 left;
};

// Shared by the launches of a run; zero before the first.
struct BlocksControl {
    u32 barrier;
    u32 epoch;
    Sizes now;       // of the queue that the next launch starts with
    u64 rounds;      // of the last launch
    u64 pushed;      // edges, of all launches
    u64 rented;      // of them, read in host memory
    double step;     // of the threshold
    u64 moved_at;    // `pushed` when the threshold last moved
    u64 in_order;    // whether values are taken in order
    u32 verdict[2];  // alternate; flags of enum Verdict
    Sizes sizes[3];  // rotate: one is read, one is written and one is cleared
};

enum Verdict { STOPS = 1, IN_ORDER = 2 };

// Places in `least` after those of the blocks: the first value in order of the items that are put off, the
// threshold, and three that rotate.
enum LeastPlace { PUT_OFF, THRESHOLD, ROTATING };

struct BlocksArguments {
    const edge_t* row_offsets;
    const vertex_t* columns;  // of all edges, in host memory; null if the device cannot read them
    const weight_t* weights;
    const vertex_t* held_columns;  // of the blocks on the device; null if they are in frames
    const i64* held_starts;  // likewise, if they are in frames: where each 1024 edges begin in the words
    const u32* held_words;
    const weight_t* held_weights;
    const degree_t* degrees;
    const i64* first_items;  // of each block, and their end
    const i32* places;
    const i32* entered;  // blocks whose waiting items the launch begins with
    value_t* values;
    u8* active;
    u32* queued;
    u32* next_queued;
    u32* waiting;
    u32* put_off;
    vertex_t* queue;
    vertex_t* next_queue;
    u64* chunks;
    u64* next_chunks;
    u64* counts;
    value_t* least;
    BlocksControl* control;
    const u32* landed;  // number of copies that have arrived
    i64 n_vertices;
    i64 place_words;  // for the words of each block
    i64 most_rounds;
    i64 most_edges;       // pushed along since the start of the run
    i64 unordered_edges;  // likewise
    i32 n_blocks;
    i32 n_entered;
    i32 shift;
    u32 landed_before;
};

struct Item {
    i64 number;
    i64 vertex;
    i64 block;
    i64 begin;
    i64 end;
};

__device__ __forceinline__ Item item_at(const BlocksArguments& given, i64 vertex, i64 block) {
    const i64 first = block << given.shift;
    const i64 after = (block + 1) << given.shift;
    return {vertex + block, vertex, block, max(static_cast<i64>(given.row_offsets[vertex]), first),
            min(static_cast<i64>(given.row_offsets[vertex + 1]), after)};
}

__device__ __forceinline__ Item item_of(const BlocksArguments& given, const i64* first_items, i64 number) {
    const i64 block = lower_bound(first_items, given.n_blocks, number + 1) - 1;
    return item_at(given, number - block, block);
}

__device__ __forceinline__ bool has(const u32* bits, i64 item) {
    return __ldcg(bits + item / WARP) >> (item % WARP) & 1;
}

// Returns whether this call set the bit.
__device__ __forceinline__ bool set(u32* bits, i64 item) {
    const u32 bit = 1u << (item % WARP);
    return (atomicOr(&bits[item / WARP], bit) & bit) == 0;
}

__device__ __forceinline__ void unset(u32* bits, i64 item) {
    atomicAnd(&bits[item / WARP], ~(1u << (item % WARP)));
}

__device__ __forceinline__ u64* counts_of(const BlocksArguments& given, i64 block) {
    return given.counts + block * N_COUNTS;
}

// What a thread block has let wait, by block of edges; in shared memory, as many items wait for few blocks.
struct Waiting {
    u32 items[MOST_BLOCKS];
    u64 edges[MOST_BLOCKS];
    value_t least[MOST_BLOCKS];

    __device__ __forceinline__ void clear(i32 block) {
        items[block] = 0;
        edges[block] = 0;
        least[block] = identity();
    }

    // Lets an item wait for its block.
    __device__ __forceinline__ void add(const BlocksArguments& given, const Item& item, value_t value) {
        if (set(given.waiting, item.number)) {
            atomicAdd(&items[item.block], 1u);
            atomicAdd(&edges[item.block], static_cast<u64>(item.end - item.begin));
        }
        if (better(value, least[item.block])) atomic_reduce(&least[item.block], value);
    }

    __device__ __forceinline__ void report(const BlocksArguments& given, i32 block) const {
        if (least[block] != identity()) atomic_reduce(&given.least[block], least[block]);
        if (items[block] == 0) return;
        u64* const counts = counts_of(given, block);
        atomicAdd(&counts[WAITING], static_cast<u64>(items[block]));
        atomicAdd(&counts[WAITING_EDGES], edges[block]);
        atomicAdd(&counts[ACTIVATED], static_cast<u64>(items[block]));
    }
};

// Clears and reports what has waited, by all threads of a block.
__device__ __forceinline__ void clear_waiting(const BlocksArguments& given, Waiting& waiting) {
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_blocks; i += static_cast<i32>(blockDim.x)) {
        waiting.clear(i);
    }
    __syncthreads();
}

__device__ __forceinline__ void report_waiting(const BlocksArguments& given, const Waiting& waiting) {
    __syncthreads();
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_blocks; i += static_cast<i32>(blockDim.x)) {
        waiting.report(given, i);
    }
}

// Lets all items of a vertex wait.
__device__ __forceinline__ void let_wait(const BlocksArguments& given, Waiting& waiting, i64 v,
                                         value_t value) {
    const i64 begin = given.row_offsets[v];
    const i64 end = given.row_offsets[v + 1];
    if (begin == end) return;
    for (i64 block = begin >> given.shift; block <= (end - 1) >> given.shift; ++block) {
        waiting.add(given, item_at(given, v, block), value);
    }
}

// Returns the waiting items of a word of bits, of those from `first` up to `after`.
__device__ __forceinline__ u32 waiting_between(const BlocksArguments& given, i64 word, i64 first, i64 after) {
    u32 found = __ldcg(&given.waiting[word]);
    if (word * WARP < first) found &= ~0u << (first % WARP);
    if (after - word * WARP < WARP) found &= (1u << (after % WARP)) - 1;
    return found;
}
