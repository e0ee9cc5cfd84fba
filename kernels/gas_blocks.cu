// A program of min or max over blocks of edges, of which some are on the device (LargeGraph).
//
// A block is a run of 1 << shift consecutive edges of the out-rows; an item is the part of a row in one
// block, and its number is the vertex plus the block (rapids_trav/engines/blocks/cut.py).  One launch
// iterates over all blocks on the device until nothing is active there, or the host's copy of another block
// has arrived.
//
// 1. Each round takes the items of a queue: short ones from a list, long ones in chunks from another.
// 2. An item sends its vertex's value along its edges.  Vertices whose values improve enter the next queue
//    with the items whose block is on the device.
// 3. Values are taken in any order until that has cost `unordered_edges`, as it does on graphs of long
//    diameter, where the same vertices improve time and again.  From then on items whose value has not passed
//    a threshold are put off.  When the queue is empty, the threshold moves beyond the first value that was
//    put off, by a step that grows while there is little to do between two moves; a round then enters the
//    items that pass it.
// 4. Items of other blocks are "rented", that is, their edges are read in host memory, until that has cost
//    the block the price of a copy; from then on they wait for it.  A launch begins with the waiting items of
//    the blocks that the host names: they have arrived, or their rows are to be read in host memory.
// 5. With FRAMED, columns on the device are in frames, which take fewer bits; the thread that follows an edge
//    reads its column from them (framed.cuh).  Blocks then begin where those of the format do.
//
// Invariants.  A bit of `next_queued` is set by an improvement in the round before, and is cleared by the
// round that takes the item; so an improvement that comes after its vertex was read enters the item again.
// Bits of `waiting` are set in a launch and only cleared at the begin of one; the thread block that sets one
// counts it when the launch ends; gas_lent.cu works between launches.  All blocks of the grid read the same
// decisions to stop and to take values in order, which one thread makes before a barrier, and compute the
// same threshold.
//
// Reference: Y. Zhang et al., LargeGraph, ACM TACO 18(4), 2021 (local convergence, SYSTEMS L8); A. Sabet et
// al., Subway, EuroSys 2020; A. Davidson et al., Work-efficient parallel GPU methods for single-source
// shortest paths, IPDPS 2014 (the threshold).
//
// Must agree with: the CPU's Blocks (rapids_trav/engines/cpu/programs/blocks/executor.py), for the values.
#include "block_sum.cuh"
#include "framed.cuh"
#include "gas_blocks.cuh"
#include "grid_barrier.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 512
#endif
#ifndef RESIDENT_BLOCKS
#define RESIDENT_BLOCKS 2  // on a multiprocessor
#endif
#ifndef CHUNK
#define CHUNK 2048  // longer items are distributed in chunks of this many edges
#endif
#ifndef PRICE
#define PRICE 32  // of an edge that is read in host memory, in edges of a copy
#endif

#ifndef FRAMED
#define FRAMED 0  // 1: the columns on the device are in frames
#endif

// With fewer edges than this between two moves of the threshold, or fewer than there are items to be looked
// through, the next move goes further.
#ifndef LITTLE
#define LITTLE 32768
#endif

// An entry of a list of chunks: the item, and which of its chunks it is.
constexpr i32 ITEM_BITS = 40;
__device__ __forceinline__ u64 chunk_of(i64 item, i64 which) {
    return static_cast<u64>(which) << ITEM_BITS | static_cast<u64>(item);
}

// Appends an item whose bit the caller has set.
__device__ __forceinline__ void append(const Item& item, vertex_t* queue, u64* chunks, Sizes* sizes) {
    const i64 length = item.end - item.begin;
    if (length <= CHUNK) {
        queue[next_place(&sizes->items, FOUND)] = static_cast<vertex_t>(item.number);
        return;
    }
    const i64 n_chunks = (length + CHUNK - 1) / CHUNK;
    const u64 base = atomicAdd(&sizes->chunks, static_cast<u64>(n_chunks));
    for (i64 i = 0; i < n_chunks; ++i) chunks[base + i] = chunk_of(item.number, i);
}

// Charges a block for reading an item in host memory; returns whether that is cheaper than a copy so far.
__device__ __forceinline__ bool rent(const BlocksArguments& given, const Item& item) {
    const i64 n_edges = static_cast<i64>(given.row_offsets[given.n_vertices]) - (item.block << given.shift);
    const u64 price = static_cast<u64>(min(n_edges, 1ll << given.shift));
    const u64 cost = static_cast<u64>(PRICE * (item.end - item.begin));
    u64* const spent = &counts_of(given, item.block)[SPENT];
    return __ldcg(spent) + cost < price && atomicAdd(spent, cost) + cost < price;
}

// What activate() needs to know of a round.
struct Round {
    const i32* places;
    Waiting* waiting;
    Sizes* next;
    value_t threshold;
    value_t* put_off;  // the first value in order of this thread block's items that are put off
};

// Enters the items of a vertex whose value has improved.
__device__ __forceinline__ void activate(const BlocksArguments& given, const Round& round, i64 vertex,
                                         value_t value) {
    const i64 begin = given.row_offsets[vertex];
    const i64 end = given.row_offsets[vertex + 1];
    if (begin == end) return;
    for (i64 block = begin >> given.shift; block <= (end - 1) >> given.shift; ++block) {
        const Item item = item_at(given, vertex, block);
        if (round.places[block] < 0) {
            if (has(given.next_queued, item.number)) continue;
            const bool may_rent = round.places[block] == ABSENT && given.columns != nullptr;
            if (!may_rent || has(given.waiting, item.number) || !rent(given, item)) {
                round.waiting->add(given, item, value);
                continue;
            }
        }
        if (better(round.threshold, value)) {
            set(given.put_off, item.number);
            if (better(value, *round.put_off)) atomic_reduce(round.put_off, value);
        } else if (set(given.next_queued, item.number)) {
            if (has(given.put_off, item.number)) unset(given.put_off, item.number);
            append(item, given.next_queue, given.next_chunks, round.next);
        }
    }
}

// Lets the items of all active vertices wait.
extern "C" __global__ void mark_active(const BlocksArguments given) {
    __shared__ Waiting waiting;
    clear_waiting(given, waiting);
    for (i64 v = global_thread(); v < given.n_vertices; v += global_threads()) {
        if (given.active[v]) let_wait(given, waiting, v, given.values[v]);
    }
    report_waiting(given, waiting);
}

// Marks the vertices that have an item in the queue, or one that waits or is put off.  Before the call,
// `active` is 0.
extern "C" __global__ void collect_active(const BlocksArguments given) {
    const i64 n_items = given.first_items[given.n_blocks];
    for (i64 word = global_thread(); word * WARP < n_items; word += global_threads()) {
        const u32 busy = given.queued[word] | given.waiting[word] | given.put_off[word];
        for (u32 found = busy; found != 0; found &= found - 1) {
            const i64 number = word * WARP + __ffs(static_cast<i32>(found)) - 1;
            given.active[number - (lower_bound(given.first_items, given.n_blocks, number + 1) - 1)] = 1;
        }
    }
}

// What a thread block keeps in shared memory.
struct BlocksShared {
    i64 first_items[MOST_BLOCKS + 1];
    i32 places[MOST_BLOCKS];
    u32 activated[MOST_BLOCKS];  // items taken since the start of the launch
    u32 listed[MOST_BLOCKS];     // items that are left at its end
    Waiting waiting;             // likewise
    value_t messages[BLOCK_SIZE];
    i64 begins[BLOCK_SIZE];  // of items on the device; ~begin of items in host memory
    i32 ends[BLOCK_SIZE];    // of each item's edges among those of the tile
    i32 warp_totals[BLOCK_SIZE / WARP];
    Sizes sizes;
    u64 left;  // items that were still put off when the threshold last moved
    value_t threshold;
    value_t lowest;         // where the threshold begins if values are not taken in order yet
    value_t put_off;        // the first value in order of all items that are put off
    value_t newly_put_off;  // likewise, of this thread block's in this round
    u32 verdict;
};

// Follows edges from the current queue to the next.
struct Along {
    const BlocksArguments& given;
    BlocksShared& shared;
    Round round;
    i64 pushed = 0;
    i64 rented = 0;

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

    __device__ __forceinline__ void over(value_t message, i64 begin, i64 offset) {
        const bool held = begin >= 0;
        const i64 edge = (held ? begin : ~begin) + offset;
        const i64 v = held ? held_column(edge) : given.columns[edge];
        const value_t value = gather(message, weight_of(held ? given.held_weights : given.weights, edge));
        pushed += 1;
        rented += !held;
        if (!better(value, given.values[v])) return;  // perhaps stale, but never better than now
        const value_t before = atomic_reduce(&given.values[v], value);
        if (better(value, before) && is_active(before, value)) activate(given, round, v, value);
    }
};

__device__ __forceinline__ void take(const BlocksArguments& given, BlocksShared& shared, const Item& item) {
    unset(given.queued, item.number);
    atomicAdd(&shared.activated[item.block], 1u);
}

// Follows the edges of short items: those of a tile are distributed evenly over the threads.
__device__ __forceinline__ void along_items(Along& along, i64 n_items) {
    const BlocksArguments& given = along.given;
    BlocksShared& shared = along.shared;
    const i32 thread = static_cast<i32>(threadIdx.x);
    for (i64 tile = static_cast<i64>(blockIdx.x) * BLOCK_SIZE; tile < n_items; tile += global_threads()) {
        i32 length = 0;
        if (tile + thread < n_items) {
            const i64 number = __ldcg(&given.queue[tile + thread]);
            const Item item = item_of(given, shared.first_items, number);
            take(given, shared, item);
            shared.messages[thread] = along.message(item);
            shared.begins[thread] = along.position(item);
            length = static_cast<i32>(item.end - item.begin);
        }
        shared.ends[thread] = block_inclusive_sum(length, shared.warp_totals);
        __syncthreads();
        const i32 n_edges = shared.ends[BLOCK_SIZE - 1];
        for (i32 i = thread; i < n_edges; i += BLOCK_SIZE) {
            const i64 owner = lower_bound(shared.ends, BLOCK_SIZE, i + 1);
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
        if (which == 0 && threadIdx.x == 0) take(given, along.shared, item);
        const value_t message = along.message(item);
        const i64 begin = along.position(item);
        const i64 end = min((which + 1) * CHUNK, item.end - item.begin);
        for (i64 offset = which * CHUNK + threadIdx.x; offset < end; offset += BLOCK_SIZE) {
            along.over(message, begin, offset);
        }
    }
}

// Puts off the items that wait for the blocks that the host names; the threshold goes back, as they may
// precede those already taken.
__device__ __forceinline__ void enter_waiting(const BlocksArguments& given, const BlocksShared& shared) {
    for (i32 i = 0; i < given.n_entered; ++i) {
        const i64 first = shared.first_items[given.entered[i]];
        const i64 after = shared.first_items[given.entered[i] + 1];
        for (i64 word = first / WARP + global_thread(); word * WARP < after; word += global_threads()) {
            const u32 found = waiting_between(given, word, first, after);
            if (found == 0) continue;
            atomicAnd(&given.waiting[word], ~found);
            atomicOr(&given.put_off[word], found);
        }
    }
    if (blockIdx.x != 0) return;
    value_t* const of_all = given.least + given.n_blocks;
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_entered; i += BLOCK_SIZE) {
        const i32 block = given.entered[i];
        u64* const counts = counts_of(given, block);
        if (shared.places[block] == ABSENT) counts[SPENT] += PRICE * counts[WAITING_EDGES];
        counts[WAITING] = counts[WAITING_EDGES] = 0;
        atomic_reduce(&of_all[PUT_OFF], given.least[block]);
        atomic_reduce(&of_all[THRESHOLD], given.least[block]);
        given.least[block] = identity();
    }
}

// Moves the threshold beyond the first value that is put off; one thread of each block calls it, all with the
// same result.  In double precision, as sums of integers may overflow.
__device__ __forceinline__ value_t moved_threshold(const BlocksShared& shared, u64 since, double& step) {
    const double first = static_cast<double>(shared.put_off);
    if (since < max(static_cast<u64>(LITTLE), shared.left)) {
        const double moved = fabs(first - static_cast<double>(shared.threshold));
        step = max(2 * step, moved < 1e300 ? moved : 0.0);
    } else {
        step /= 2;
    }
    const double end = static_cast<double>(identity());
    const double threshold = REDUCER == 1 ? first - step : first + step;
    if (REDUCER == 1 ? threshold <= end : threshold >= end) return identity();
    const value_t rounded = static_cast<value_t>(threshold);
    return better(rounded, shared.put_off) ? shared.put_off : rounded;
}

// Enters the items that were put off and pass the threshold.
__device__ __forceinline__ void enter_put_off(const BlocksArguments& given, BlocksShared& shared,
                                              Sizes* next) {
    const i64 n_items = given.first_items[given.n_blocks];
    i64 n_left = 0;
    for (i64 word = global_thread(); word * WARP < n_items; word += global_threads()) {
        const u32 before = __ldcg(&given.put_off[word]);
        u32 left = before;
        for (u32 found = before; found != 0; found &= found - 1) {
            const i64 number = word * WARP + __ffs(static_cast<i32>(found)) - 1;
            const Item item = item_of(given, shared.first_items, number);
            const value_t value = __ldcg(&given.values[item.vertex]);
            if (better(shared.threshold, value)) {
                if (better(value, shared.newly_put_off)) atomic_reduce(&shared.newly_put_off, value);
                continue;
            }
            left &= ~(1u << (number % WARP));
            if (set(given.next_queued, number)) append(item, given.next_queue, given.next_chunks, next);
        }
        n_left += __popc(left);
        if (left != before) given.put_off[word] = left;  // nobody else changes it in this round
    }
    __syncwarp();
    count(&next->left, FOUND, n_left);
}

// Counts the items of the queue and those put off, by block, if the launch ends before there are none; in
// shared memory, as a long queue has items of few blocks.
__device__ __forceinline__ void count_listed(const BlocksArguments& given, BlocksShared& shared) {
    for (i64 i = global_thread(); i < static_cast<i64>(shared.sizes.items); i += global_threads()) {
        const Item item = item_of(given, shared.first_items, __ldcg(&given.queue[i]));
        atomicAdd(&shared.listed[item.block], 1u);
    }
    for (i64 i = global_thread(); i < static_cast<i64>(shared.sizes.chunks); i += global_threads()) {
        const u64 chunk = __ldcg(&given.chunks[i]);
        if (chunk >> ITEM_BITS) continue;
        const Item item = item_of(given, shared.first_items, static_cast<i64>(chunk));
        atomicAdd(&shared.listed[item.block], 1u);
    }
    if (shared.put_off != identity()) {
        const i64 n_items = given.first_items[given.n_blocks];
        for (i64 word = global_thread(); word * WARP < n_items; word += global_threads()) {
            for (u32 found = __ldcg(&given.put_off[word]); found != 0; found &= found - 1) {
                const i64 number = word * WARP + __ffs(static_cast<i32>(found)) - 1;
                const Item item = item_of(given, shared.first_items, number);
                atomicAdd(&shared.listed[item.block], 1u);
            }
        }
    }
    __syncthreads();
}

// Iterates until the queue is empty, a copy has arrived, or the launch has done enough.  The host exchanges
// the two queues after an odd number of rounds.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, RESIDENT_BLOCKS)
    converge(const BlocksArguments arguments) {
    __shared__ BlocksShared shared;
    BlocksArguments given = arguments;
    BlocksControl* const control = given.control;
    const bool first_thread = global_thread() == 0;
    u32 epoch = __ldcg(&control->epoch);
    for (i32 i = static_cast<i32>(threadIdx.x); i <= given.n_blocks; i += BLOCK_SIZE) {
        shared.first_items[i] = given.first_items[i];
        if (i == given.n_blocks) break;
        shared.places[i] = given.places[i];
        shared.activated[i] = shared.listed[i] = 0;
        shared.waiting.clear(i);
        if (blockIdx.x != 0) continue;
        counts_of(given, i)[LISTED] = 0;
        if (shared.places[i] != ABSENT) counts_of(given, i)[SPENT] = 0;
    }
    if (given.n_entered > 0) {
        __syncthreads();
        enter_waiting(given, shared);
        __syncthreads();
        if (threadIdx.x == 0) arrive_and_wait(&control->barrier, epoch);
    }
    value_t* const least = given.least + given.n_blocks;
    double step = __ldcg(&control->step);
    u64 moved_at = __ldcg(&control->moved_at);
    bool in_order = __ldcg(&control->in_order) != 0;
    if (threadIdx.x == 0) {
        shared.sizes = {__ldcg(&control->now.items), __ldcg(&control->now.chunks), 0};
        shared.left = __ldcg(&control->now.left);
        shared.put_off = __ldcg(&least[PUT_OFF]);
        shared.lowest = __ldcg(&least[THRESHOLD]);
        shared.threshold = in_order ? shared.lowest : identity();
        shared.newly_put_off = identity();
    }
    __syncthreads();
    i64 rounds = 0;
    for (bool goes_on = true; goes_on;) {
        Sizes* const next = &control->sizes[rounds % 3];
        value_t* const newly_put_off = &least[ROTATING + rounds % 3];
        if (first_thread) {
            control->sizes[(rounds + 1) % 3] = {0, 0, 0};
            least[ROTATING + (rounds + 1) % 3] = identity();
        }
        const bool pushes = shared.sizes.items + shared.sizes.chunks > 0;
        const bool enters = !pushes || (!in_order && shared.put_off != identity());
        if (enters) {
            if (threadIdx.x == 0 && in_order) {
                // No block pushes in this round, so all of them read the same sum.
                const u64 pushed = __ldcg(&control->pushed);
                shared.threshold = moved_threshold(shared, pushed - moved_at, step);
                moved_at = pushed;
            }
            __syncthreads();
            enter_put_off(given, shared, next);
        }
        if (pushes) {
            const Round round{shared.places, &shared.waiting, next, shared.threshold, &shared.newly_put_off};
            Along along{given, shared, round};
            along_items(along, static_cast<i64>(shared.sizes.items));
            along_chunks(along, static_cast<i64>(shared.sizes.chunks));
            __syncwarp();
            count(&control->pushed, FOUND, along.pushed);
            count(&control->rented, FOUND, along.rented);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            if (shared.newly_put_off != identity()) atomic_reduce(newly_put_off, shared.newly_put_off);
            shared.newly_put_off = identity();
            u32* const verdict = &control->verdict[rounds % 2];
            if (first_thread) {
                const i64 pushed = static_cast<i64>(__ldcg(&control->pushed));
                const bool stops = __ldcg(given.landed) != given.landed_before ||
                                   rounds + 1 >= given.most_rounds || pushed >= given.most_edges;
                *verdict = (stops ? STOPS : 0) | (pushed >= given.unordered_edges ? IN_ORDER : 0);
            }
            arrive_and_wait(&control->barrier, epoch);
            shared.sizes = {__ldcg(&next->items), __ldcg(&next->chunks), 0};
            if (enters) shared.left = __ldcg(&next->left);
            const value_t put_off = __ldcg(newly_put_off);
            shared.put_off = enters ? put_off : reduce(shared.put_off, put_off);
            shared.verdict = __ldcg(verdict);
            if (!in_order && (shared.verdict & IN_ORDER) != 0) shared.threshold = shared.lowest;
        }
        __syncthreads();
        rounds += 1;
        in_order = in_order || (shared.verdict & IN_ORDER) != 0;
        const u64 n_queued = shared.sizes.items + shared.sizes.chunks;
        goes_on = (shared.verdict & STOPS) == 0 && (n_queued > 0 || shared.put_off != identity());
        swap(given.queue, given.next_queue);
        swap(given.chunks, given.next_chunks);
        swap(given.queued, given.next_queued);
    }
    count_listed(given, shared);
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_blocks; i += BLOCK_SIZE) {
        const u32 activated = shared.activated[i];
        const u32 listed = shared.listed[i];
        if (activated != 0) atomicAdd(&counts_of(given, i)[ACTIVATED], static_cast<u64>(activated));
        if (listed != 0) atomicAdd(&counts_of(given, i)[LISTED], static_cast<u64>(listed));
        shared.waiting.report(given, i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        arrive_and_wait(&control->barrier, epoch);  // the sizes have been read
        if (first_thread) {
            control->now = {shared.sizes.items, shared.sizes.chunks, shared.left};
            control->rounds = static_cast<u64>(rounds);
            control->epoch = epoch;
            control->step = step;
            control->moved_at = moved_at;
            least[PUT_OFF] = shared.put_off;
            least[THRESHOLD] = in_order ? shared.threshold : shared.lowest;
            control->in_order = in_order;
            for (i32 i = 0; i < 3; ++i) least[ROTATING + i] = identity();
            for (Sizes& sizes : control->sizes) sizes = {0, 0, 0};
        }
    }
}
