// Blocks of edges and their items: the arguments of the kernels, and the items that wait for a block.
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
enum BlockCount { WAITING, WAITING_EDGES, LISTED, ACTIVATED, SPENT, CLOCKED, N_COUNTS = 8 };

// Totals of a round: the lengths of the next queue's lists of short items and of chunks, the number of items
// that are still put off, the edges pushed along, how many of them were read in host memory, and the number
// of thread blocks in which an item began to wait for a block that is neither on the device nor being copied.
struct Sizes {
    u64 items;
    u64 chunks;
    u64 left;
    u64 pushed;
    u64 rented;
    u64 waits;
};

// Shared by the launches of a run; zero before the first.
struct BlocksControl {
    u32 barrier;
    u32 epoch;
    Sizes now;       // of the queue that the next launch starts with; edges are those of all launches
    u64 rounds;      // of the last launch
    double step;     // of the threshold
    u64 moved_at;    // edges pushed along when the threshold last moved
    u64 in_order;    // whether values are taken in order
    u32 arrived[2];  // alternate: whether the copies that end the launch have arrived
    Sizes sizes[3];  // rotate: one is read, one is written and one is cleared
};

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
    i64 most_waiting;     // rounds from the first on that lets an item wait for a block that is not coming
    i64 most_edges;       // pushed along since the start of the run
    i64 unordered_edges;  // likewise
    i32 n_blocks;
    i32 n_entered;
    i32 shift;
    u32 enough_landed;  // the launch ends when this many copies have arrived
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

// Counts of the waiting items, by block of edges, as far as a thread block has counted; in shared memory.
struct Waiting {
    u32 items[MOST_BLOCKS];
    u64 edges[MOST_BLOCKS];
    value_t least[MOST_BLOCKS];

    __device__ __forceinline__ void clear(i32 block) {
        items[block] = 0;
        edges[block] = 0;
        least[block] = identity();
    }

    __device__ __forceinline__ void add(i64 block, i32 n_items, i64 n_edges, value_t first) {
        atomicAdd(&items[block], static_cast<u32>(n_items));
        atomicAdd(&edges[block], static_cast<u64>(n_edges));
        if (better(first, least[block])) atomic_reduce(&least[block], first);
    }

    __device__ __forceinline__ void report(const BlocksArguments& given, i32 block) const {
        if (items[block] == 0) return;
        u64* const counts = counts_of(given, block);
        atomicAdd(&counts[WAITING], static_cast<u64>(items[block]));
        atomicAdd(&counts[WAITING_EDGES], edges[block]);
        atomicAdd(&counts[ACTIVATED], static_cast<u64>(items[block]));
        atomic_reduce(&given.least[block], least[block]);
    }
};

// Clears a block's counts so that all waiting items can be recounted; items that wait do not become active.
__device__ __forceinline__ void forget_waiting(const BlocksArguments& given, i32 block) {
    u64* const counts = counts_of(given, block);
    counts[ACTIVATED] -= counts[WAITING];
    counts[WAITING] = counts[WAITING_EDGES] = 0;
    given.least[block] = identity();
}

// Marks all items of a vertex as waiting.
__device__ __forceinline__ void let_wait(const BlocksArguments& given, i64 v) {
    const i64 begin = given.row_offsets[v];
    const i64 end = given.row_offsets[v + 1];
    if (begin == end) return;
    for (i64 block = begin >> given.shift; block <= (end - 1) >> given.shift; ++block) {
        set(given.waiting, v + block);
    }
}

// Calls visit(word, found) for each word that is not 0.  All warps of the grid call it, and divide the words
// so that a run of neighbouring words is spread over several warps.
template <class Visit>
__device__ __forceinline__ void each_word(const u32* bits, i64 n_words, Visit visit) {
    const i64 n_warps = global_threads() / WARP;
    const i64 tile = min(static_cast<i64>(WARP), max(4ll, n_words / (4 * n_warps)));
    for (i64 first = global_thread() / WARP * tile; first < n_words; first += n_warps * tile) {
        const bool inside = lane_id() < tile && first + lane_id() < n_words;
        const u32 own = inside ? __ldcg(&bits[first + lane_id()]) : 0;
        for (u32 busy = __ballot_sync(FULL_WARP, own != 0); busy != 0; busy &= busy - 1) {
            const i32 owner = __ffs(static_cast<i32>(busy)) - 1;
            visit(first + owner, __shfl_sync(FULL_WARP, own, owner));
        }
    }
}

__device__ __forceinline__ i64 words_of(const BlocksArguments& given) {
    return (given.first_items[given.n_blocks] + WARP - 1) / WARP;
}

// Counts all items that wait, by block; all warps of the grid call it.
__device__ __forceinline__ void count_all_waiting(const BlocksArguments& given, const i64* first_items,
                                                  Waiting& waiting) {
    each_word(given.waiting, words_of(given), [&](i64 word, u32 found) {
        const bool waits = found >> lane_id() & 1;
        i64 block = 0;
        i64 n_edges = 0;
        value_t first = identity();
        if (waits) {
            const Item item = item_of(given, first_items, word * WARP + lane_id());
            block = item.block;
            n_edges = item.end - item.begin;
            first = __ldcg(&given.values[item.vertex]);
        }
        // The items of most words are in one block.
        const i64 common = __shfl_sync(FULL_WARP, block, __ffs(static_cast<i32>(found)) - 1);
        if (!__all_sync(FULL_WARP, !waits || block == common)) {
            if (waits) waiting.add(block, 1, n_edges, first);
            __syncwarp();
            return;
        }
        for (i32 step = WARP / 2; step > 0; step /= 2) n_edges += __shfl_xor_sync(FULL_WARP, n_edges, step);
        first = group_reduce(first, WARP);
        if (lane_id() == 0) waiting.add(common, __popc(found), n_edges, first);
    });
}

// Returns the waiting items in a word of bits whose numbers are from `first` up to `after`.
__device__ __forceinline__ u32 waiting_between(const BlocksArguments& given, i64 word, i64 first, i64 after) {
    u32 found = __ldcg(&given.waiting[word]);
    if (word * WARP < first) found &= ~0u << (first % WARP);
    if (after - word * WARP < WARP) found &= (1u << (after % WARP)) - 1;
    return found;
}
