// Rounds over blocks of edges: items of the current queue send their values along their edges, and vertices
// that improve enter the next queue, wait, or are put off (gas_blocks.cu).
#pragma once
#include "block_sum.cuh"
#include "framed.cuh"
#include "gas_blocks.cuh"
#include "gas_blocks_clock.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 512
#endif
#ifndef CHUNK
#define CHUNK 1024  // items longer than half of it are distributed in chunks of this many edges
#endif
#ifndef PRICE
#define PRICE 32  // reading one edge in host memory costs as much as copying this many
#endif
#ifndef FRAMED
#define FRAMED 0  // 1: the columns on the device are in frames
#endif

// Least number of short items that a thread block takes at once, and the number of tiles into which a thread
// block's share of a long list is cut.
constexpr i64 FEWEST_IN_TILE = 8;
constexpr i64 TILES = 4;

// A thread block's shared memory.
struct BlocksShared {
    i64 first_items[MOST_BLOCKS + 1];
    i32 places[MOST_BLOCKS];
    u32 activated[MOST_BLOCKS];  // items taken since the start of the launch
    u32 listed[MOST_BLOCKS];     // items still in the queue or put off at its end
    Waiting waiting;             // likewise
    value_t messages[BLOCK_SIZE];
    i64 begins[BLOCK_SIZE];  // of items on the device; ~begin of items in host memory
    i32 ends[BLOCK_SIZE];    // of each item's edges among those of the tile
    i32 warp_totals[BLOCK_SIZE / WARP];
    Sizes sizes;
    u64 left;    // items that were still put off when the threshold last moved
    u64 pushed;  // edges, of all launches
    u64 rented;  // of them, read in host memory
    value_t threshold;
    value_t lowest;         // where the threshold begins if values are not taken in order yet
    value_t put_off;        // the first value in order of all items that are put off
    value_t newly_put_off;  // likewise, of this thread block's in this round
    u64 newly_pushed;       // edges, of this thread block in this round
    u64 newly_rented;       // likewise
    double step;            // of the threshold
    u64 moved_at;           // edges pushed along when the threshold last moved
    i64 moved_in;           // the round of this launch in which it moved
    u32 newly_waits;        // whether an item of this thread block began to wait in this round
    u32 arrived;
};

// An entry of a list of chunks: the item, and which of its chunks it is.
constexpr i32 ITEM_BITS = 40;
__device__ __forceinline__ u64 chunk_of(i64 item, i64 which) {
    return static_cast<u64>(which) << ITEM_BITS | static_cast<u64>(item);
}

// Appends an item whose bit the caller has set.
__device__ __forceinline__ void append(const Item& item, vertex_t* queue, u64* chunks, Sizes* sizes) {
    const i64 length = item.end - item.begin;
    if (length <= CHUNK / 2) {
        queue[next_place(&sizes->items, FOUND)] = static_cast<vertex_t>(item.number);
        return;
    }
    const i64 n_chunks = (length + CHUNK - 1) / CHUNK;
    const u64 base = atomicAdd(&sizes->chunks, static_cast<u64>(n_chunks));
    for (i64 i = 0; i < n_chunks; ++i) chunks[base + i] = chunk_of(item.number, i);
}

// Charges a block for reading an item in host memory; returns whether all such reads together are still
// cheaper than a copy of the block.
__device__ __forceinline__ bool rent(const BlocksArguments& given, const Item& item) {
    const i64 n_edges = static_cast<i64>(given.row_offsets[given.n_vertices]) - (item.block << given.shift);
    const u64 price = static_cast<u64>(min(n_edges, 1ll << given.shift));
    const u64 cost = static_cast<u64>(PRICE * (item.end - item.begin));
    u64* const spent = &counts_of(given, item.block)[SPENT];
    return __ldcg(spent) + cost < price && atomicAdd(spent, cost) + cost < price;
}

// The data of a round that activate() needs.
struct Round {
    const i32* places;
    Sizes* next;
    value_t threshold;
    u32* waits;        // set if an item begins to wait for a block that is not coming
    value_t* put_off;  // the first value in order of this thread block's items that are put off
};

// Enters the items of a vertex whose value has improved, and whose row is [begin, end).
__device__ __forceinline__ void activate(const BlocksArguments& given, const Round& round, i64 vertex,
                                         i64 begin, i64 end, value_t value) {
    if (begin == end) return;
    for (i64 block = begin >> given.shift; block <= (end - 1) >> given.shift; ++block) {
        const i64 number = vertex + block;
        const Item item{number, vertex, block, max(begin, block << given.shift),
                        min(end, (block + 1) << given.shift)};
        if (round.places[block] < 0) {
            if (has(given.next_queued, number)) continue;
            const bool may_rent = round.places[block] == ABSENT && given.columns != nullptr;
            const bool waits = has(given.waiting, number);
            if (waits || !may_rent || !rent(given, item)) {
                set(given.waiting, number);
                if (!waits && round.places[block] == ABSENT) *round.waits = 1;
                continue;
            }
        }
        if (better(round.threshold, value)) {
            set(given.put_off, number);
            if (better(value, *round.put_off)) atomic_reduce(round.put_off, value);
            continue;
        }
        const bool was_put_off = has(given.put_off, number);  // read while the bit is set
        if (!set(given.next_queued, number)) continue;
        if (was_put_off) unset(given.put_off, number);
        append(item, given.next_queue, given.next_chunks, round.next);
    }
}

// Follows edges from the current queue to the next.
struct Along {
    const BlocksArguments& given;
    BlocksShared& shared;
    Round round;

    // Returns where the edges of an item are: a position among those on the device, or ~position in host
    // memory.
    __device__ __forceinline__ i64 position(const Item& item) const {
        const i32 place = shared.places[item.block];
        return place < 0 ? ~item.begin : item.begin + ((place - item.block) << given.shift);
    }

    // Returns the column of an edge on the device, by its position there.
    __device__ __forceinline__ i64 held_column(i64 edge) const {
#if FRAMED
        const i64 place = edge >> given.shift;
        const i64 in_place = edge - (place << given.shift);
        const i64* const starts = given.held_starts + (place << given.shift) / BLOCK_EDGES;
        const u32* const words = given.held_words + place * given.place_words;
        return framed_column(words + (starts[in_place / BLOCK_EDGES] - starts[0]),
                             static_cast<i32>(in_place % BLOCK_EDGES));
#else
        return given.held_columns[edge];
#endif
    }

    __device__ __forceinline__ value_t message(const Item& item) const {
        const degree_t degree = SCATTER_ARGUMENTS == 2 ? given.degrees[item.vertex] : 0;
        return scatter(__ldcg(&given.values[item.vertex]), degree);
    }

    __device__ __forceinline__ void take(const Item& item) const {
        unset(given.queued, item.number);
        atomicAdd(&shared.activated[item.block], 1u);
    }

    __device__ __forceinline__ void over(value_t message, i64 begin, i64 offset) const {
        const bool held = begin >= 0;
        const i64 edge = (held ? begin : ~begin) + offset;
        const i64 v = held ? held_column(edge) : given.columns[edge];
        const value_t value = gather(message, weight_of(held ? given.held_weights : given.weights, edge));
        if (!better(value, given.values[v])) return;  // perhaps stale, but then the present value is better
        const i64 row_begin = given.row_offsets[v];   // in flight together with the atomic
        const i64 row_end = given.row_offsets[v + 1];
        const value_t before = atomic_reduce(&given.values[v], value);
        if (!better(value, before) || !is_active(before, value)) return;
        activate(given, round, v, row_begin, row_end, value);
    }
};

// Follows the edges of short items: those of a tile are distributed evenly over the threads.
__device__ __forceinline__ void along_items(Along& along, i64 n_items) {
    const BlocksArguments& given = along.given;
    BlocksShared& shared = along.shared;
    const i32 thread = static_cast<i32>(threadIdx.x);
    const i64 n_tiles = TILES * gridDim.x;
    const i64 size =
        min(static_cast<i64>(BLOCK_SIZE), max(FEWEST_IN_TILE, (n_items + n_tiles - 1) / n_tiles));
    for (i64 tile = blockIdx.x * size; tile < n_items; tile += gridDim.x * size) {
        i32 length = 0;
        if (thread < size && tile + thread < n_items) {
            const i64 number = __ldcg(&given.queue[tile + thread]);
            const Item item = item_of(given, shared.first_items, number);
            along.take(item);
            shared.messages[thread] = along.message(item);
            shared.begins[thread] = along.position(item);
            length = static_cast<i32>(item.end - item.begin);
            if (shared.begins[thread] < 0) atomicAdd(&shared.newly_rented, static_cast<u64>(length));
        }
        shared.ends[thread] = block_inclusive_sum(length, shared.warp_totals);
        __syncthreads();
        const i32 n_edges = shared.ends[BLOCK_SIZE - 1];
        if (thread == 0) shared.newly_pushed += static_cast<u64>(n_edges);
        for (i32 i = thread; i < n_edges; i += BLOCK_SIZE) {
            const i64 owner = lower_bound(shared.ends, size, i + 1);
            along.over(shared.messages[owner], shared.begins[owner],
                       i - (owner > 0 ? shared.ends[owner - 1] : 0));
        }
        __syncthreads();
    }
}

// Follows the edges of chunks, with a thread block for each.
__device__ __forceinline__ void along_chunks(Along& along, i64 n_chunks) {
    const BlocksArguments& given = along.given;
    for (i64 i = blockIdx.x; i < n_chunks; i += gridDim.x) {
        const u64 chunk = __ldcg(&given.chunks[i]);
        const i64 which = static_cast<i64>(chunk >> ITEM_BITS);
        const i64 number = static_cast<i64>(chunk & ((1ull << ITEM_BITS) - 1));
        const Item item = item_of(given, along.shared.first_items, number);
        const value_t message = along.message(item);
        const i64 begin = along.position(item);
        const i64 end = min((which + 1) * CHUNK, item.end - item.begin);
        if (threadIdx.x == 0) {
            if (which == 0) along.take(item);
            const u64 n_edges = static_cast<u64>(end - which * CHUNK);
            along.shared.newly_pushed += n_edges;
            if (begin < 0) atomicAdd(&along.shared.newly_rented, n_edges);
        }
        for (i64 offset = which * CHUNK + threadIdx.x; offset < end; offset += BLOCK_SIZE) {
            along.over(message, begin, offset);
        }
    }
}
