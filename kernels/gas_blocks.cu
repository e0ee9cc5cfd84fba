// A program of min or max over blocks of edges, only some of which are on the device (LargeGraph).
//
// A block is a run of 1 << shift consecutive edges of the out-rows; an item is the part of a row in one
// block, and its number is the vertex plus the block (rapids_trav/engines/blocks/cut.py).  One launch
// iterates over all blocks on the device until nothing is active there or a limit of `converge` is reached,
// for example when enough copies of other blocks have arrived.
//
// 1. Each round takes the items of a queue: short items from one list, long ones in chunks from another
//    (gas_blocks_along.cuh).  Thread blocks divide a short list into small tiles, so that a few long rows do
//    not keep one thread block busy while the others wait.
// 2. An item sends its vertex's value along its edges.  Vertices whose values improve enter the next queue
//    with the items whose block is on the device.
// 3. Items are taken in any order of their values until more than `unordered_edges` have been followed, which
//    happens on graphs of long diameter, where the same vertices improve again and again.  From then on,
//    items whose value is beyond a threshold are put off.  When the queue has few items, the threshold moves
//    past the first value that was put off, by a step that grows while rounds follow few edges; a round then
//    also enters the items that pass the threshold.
// 4. Items of blocks that are not on the device are "rented" at first: their edges are read in host memory.
//    Once that has cost as much as copying the block, its items wait for the copy.  A launch begins with the
//    waiting items of the blocks that the host names, either because the blocks have arrived or because
//    their rows are to be read in host memory.
// 5. With FRAMED, columns on the device are in frames, which take fewer bits; the thread that follows an edge
//    decodes its column (framed.cuh).  Blocks of edges then begin where blocks of the format do.
//
// Invariants.
// - A bit of `next_queued` is set by an improvement in the round before, and is cleared by the round that
//   takes the item; so an improvement that comes after its vertex was read enters the item again.
// - Bits of `waiting` are set during a launch and cleared only at the start of one.  Waiting items are
//   recounted when a launch ends, which takes less time than counting each when its bit is set.  gas_lent.cu
//   changes these bits between launches.
// - All thread blocks read the same sizes after a barrier of the grid, so they make the same decisions and
//   compute the same threshold; one thread reads the number of arrived copies before the barrier.
//
// Reference: Y. Zhang et al., LargeGraph, ACM TACO 18(4), 2021 (local convergence; docs/systems.md, L8);
// A. Sabet et al., Subway, EuroSys 2020; A. Davidson et al., Work-efficient parallel GPU methods for
// single-source shortest paths, IPDPS 2014 (the threshold).
//
// Must agree with: the CPU's Blocks (rapids_trav/engines/cpu/programs/blocks/executor.py), for the values.
#include "gas_blocks_along.cuh"
#include "grid_barrier.cuh"

#ifndef RESIDENT_BLOCKS
#define RESIDENT_BLOCKS 2  // thread blocks on a multiprocessor
#endif

// If the rounds between two moves of the threshold follow fewer edges than this on average, or fewer in total
// than there are items to look through, the next move goes further.  A round of this many edges takes no
// longer than a shorter one.
#ifndef ROUND_EDGES
#define ROUND_EDGES 8192
#endif
#ifndef FEW
#define FEW 512  // with fewer items in the queue than this, the threshold moves
#endif

// Marks the items of all active vertices as waiting; recount_waiting counts them.
extern "C" __global__ void mark_active(const BlocksArguments given) {
    for (i64 v = global_thread(); v < given.n_vertices; v += global_threads()) {
        if (given.active[v]) let_wait(given, v);
    }
}

// Prepares the counts for recount_waiting.
extern "C" __global__ void forget_counts(const BlocksArguments given) {
    for (i64 i = global_thread(); i < given.n_blocks; i += global_threads()) {
        forget_waiting(given, static_cast<i32>(i));
    }
}

// Counts all items that wait, by block.
extern "C" __global__ void recount_waiting(const BlocksArguments given) {
    __shared__ Waiting waiting;
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_blocks; i += static_cast<i32>(blockDim.x)) {
        waiting.clear(i);
    }
    __syncthreads();
    count_all_waiting(given, given.first_items, waiting);
    __syncthreads();
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_blocks; i += static_cast<i32>(blockDim.x)) {
        waiting.report(given, i);
    }
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
        atomic_reduce(&of_all[PUT_OFF], given.least[block]);
        atomic_reduce(&of_all[THRESHOLD], given.least[block]);
    }
}

// Moves the threshold past the first value that is put off; one thread of each block calls it, and all get
// the same result.  It computes in double precision, as sums of integers may overflow.
__device__ __forceinline__ value_t moved_threshold(BlocksShared& shared, i64 rounds) {
    const u64 n_edges = shared.pushed - shared.moved_at;
    const u64 n_rounds = static_cast<u64>(rounds - shared.moved_in);
    shared.moved_at = shared.pushed;
    shared.moved_in = rounds;
    double& step = shared.step;
    const double first = static_cast<double>(shared.put_off);
    if (n_edges < max(n_rounds * ROUND_EDGES, shared.left)) {
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

// Enters the items that were put off and now pass the threshold, while other items may be processed.
__device__ __forceinline__ void enter_put_off(const BlocksArguments& given, BlocksShared& shared,
                                              Sizes* next) {
    i64 n_left = 0;
    each_word(given.put_off, words_of(given), [&](i64 word, u32 found) {
        Item item = {};
        bool passes = false;
        if (found >> lane_id() & 1) {
            item = item_of(given, shared.first_items, word * WARP + lane_id());
            const value_t value = __ldcg(&given.values[item.vertex]);
            passes = !better(shared.threshold, value);
            if (!passes && better(value, shared.newly_put_off)) atomic_reduce(&shared.newly_put_off, value);
        }
        const u32 passing = __ballot_sync(FULL_WARP, passes);
        n_left += lane_id() == 0 ? __popc(found & ~passing) : 0;
        if (passing == 0) return;
        u32 entered = 0;
        if (lane_id() == 0) {
            atomicAnd(&given.put_off[word], ~passing);
            entered = passing & ~atomicOr(&given.next_queued[word], passing);
        }
        entered = __shfl_sync(FULL_WARP, entered, 0);
        if (entered >> lane_id() & 1) append(item, given.next_queue, given.next_chunks, next);
        __syncwarp();
    });
    if (n_left > 0) atomicAdd(&next->left, static_cast<u64>(n_left));
}

// Counts the items in the queue and those put off, by block, if the launch ends before none are left.
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
    if (shared.put_off == identity()) return;
    each_word(given.put_off, words_of(given), [&](i64 word, u32 found) {
        if ((found >> lane_id() & 1) == 0) return;
        const Item item = item_of(given, shared.first_items, word * WARP + lane_id());
        atomicAdd(&shared.listed[item.block], 1u);
    });
}

// Prepares a launch: a thread block's shared memory, and the counts of all blocks of edges.
__device__ __forceinline__ void begin_launch(const BlocksArguments& given, BlocksShared& shared, u32& epoch) {
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
    __syncthreads();
    if (given.n_entered > 0) {
        enter_waiting(given, shared);
        __syncthreads();
    }
    for (i32 i = static_cast<i32>(threadIdx.x); blockIdx.x == 0 && i < given.n_blocks; i += BLOCK_SIZE) {
        forget_waiting(given, i);
    }
    if (given.n_entered > 0 && threadIdx.x == 0) arrive_and_wait(&given.control->barrier, epoch);
    if (threadIdx.x == 0) {
        const Sizes& now = given.control->now;
        shared.sizes = {__ldcg(&now.items), __ldcg(&now.chunks), __ldcg(&now.left), 0, 0, 0};
        shared.left = shared.sizes.left;
        shared.pushed = __ldcg(&now.pushed);
        shared.rented = __ldcg(&now.rented);
        const value_t* const of_all = given.least + given.n_blocks;
        shared.put_off = __ldcg(&of_all[PUT_OFF]);
        shared.lowest = __ldcg(&of_all[THRESHOLD]);
        shared.newly_put_off = identity();
        shared.newly_pushed = shared.newly_rented = 0;
        shared.newly_waits = 0;
        shared.step = __ldcg(&given.control->step);
        shared.moved_at = __ldcg(&given.control->moved_at);
        shared.moved_in = 0;
    }
    __syncthreads();
}

// Adds a thread block's counts of a launch to the counts of the blocks of edges.
__device__ __forceinline__ void report_launch(const BlocksArguments& given, BlocksShared& shared) {
    count_listed(given, shared);
    count_all_waiting(given, shared.first_items, shared.waiting);
    __syncthreads();
    for (i32 i = static_cast<i32>(threadIdx.x); i < given.n_blocks; i += BLOCK_SIZE) {
        u64* const counts = counts_of(given, i);
        const u32 activated = shared.activated[i];
        const u32 listed = shared.listed[i];
        if (activated != 0) atomicAdd(&counts[ACTIVATED], static_cast<u64>(activated));
        if (listed != 0) atomicAdd(&counts[LISTED], static_cast<u64>(listed));
        shared.waiting.report(given, i);
    }
    __syncthreads();
}

// Iterates until the queue is empty, enough copies have arrived, items have waited `most_waiting` rounds for
// a block that is not being copied, or the launch has done enough.  The host exchanges the two queues after
// an odd number of rounds.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, RESIDENT_BLOCKS)
    converge(const BlocksArguments arguments) {
    __shared__ BlocksShared shared;
    BlocksArguments given = arguments;
    BlocksControl* const control = given.control;
    const bool first_thread = global_thread() == 0;
    u32 epoch = __ldcg(&control->epoch);
    PhaseClock clock;
    begin_launch(given, shared, epoch);
    value_t* const of_all = given.least + given.n_blocks;
    bool in_order = __ldcg(&control->in_order) != 0;
    if (threadIdx.x == 0) shared.threshold = in_order ? shared.lowest : identity();
    __syncthreads();
    clock.lap(BEGINNING);
    i64 rounds = 0;
    i64 most_rounds = given.most_rounds;
    for (bool goes_on = true; goes_on;) {
        Sizes* const next = &control->sizes[rounds % 3];
        value_t* const newly_put_off = &of_all[ROTATING + rounds % 3];
        if (first_thread) {
            control->sizes[(rounds + 1) % 3] = {0, 0, 0, 0, 0, 0};
            of_all[ROTATING + (rounds + 1) % 3] = identity();
        }
        const u64 n_queued = shared.sizes.items + shared.sizes.chunks;
        const bool enters = n_queued == 0 || (shared.put_off != identity() && (!in_order || n_queued < FEW));
        if (enters) {
            if (threadIdx.x == 0 && in_order) shared.threshold = moved_threshold(shared, rounds);
            __syncthreads();
            enter_put_off(given, shared, next);
            clock.lap(ENTERING);
        }
        const Round round{shared.places, next, shared.threshold, &shared.newly_waits, &shared.newly_put_off};
        Along along{given, shared, round};
        along_items(along, static_cast<i64>(shared.sizes.items));
        clock.lap(ITEMS);
        along_chunks(along, static_cast<i64>(shared.sizes.chunks));
        __syncthreads();
        clock.lap(CHUNKS);
        if (threadIdx.x == 0) {
            clock.followed(given, shared.newly_pushed);
            if (shared.newly_pushed != 0) atomicAdd(&next->pushed, shared.newly_pushed);
            if (shared.newly_rented != 0) atomicAdd(&next->rented, shared.newly_rented);
            if (shared.newly_put_off != identity()) atomic_reduce(newly_put_off, shared.newly_put_off);
            if (shared.newly_waits != 0) atomicAdd(&next->waits, 1ull);
            shared.newly_pushed = shared.newly_rented = 0;
            shared.newly_waits = 0;
            shared.newly_put_off = identity();
            u32* const arrived = &control->arrived[rounds % 2];
            if (first_thread) *arrived = static_cast<i32>(__ldcg(given.landed) - given.enough_landed) >= 0;
            arrive_and_wait(&control->barrier, epoch);
            shared.sizes = {__ldcg(&next->items),  __ldcg(&next->chunks), __ldcg(&next->left),
                            __ldcg(&next->pushed), __ldcg(&next->rented), __ldcg(&next->waits)};
            const value_t put_off = __ldcg(newly_put_off);
            shared.arrived = __ldcg(arrived);
            if (enters) shared.left = shared.sizes.left;
            shared.put_off = enters ? put_off : reduce(shared.put_off, put_off);
            shared.pushed += shared.sizes.pushed;
            shared.rented += shared.sizes.rented;
        }
        __syncthreads();
        clock.lap(BARRIER);
        rounds += 1;
        const i64 pushed = static_cast<i64>(shared.pushed);
        if (shared.sizes.waits != 0) most_rounds = min(most_rounds, rounds + given.most_waiting);
        goes_on = (shared.sizes.items + shared.sizes.chunks > 0 || shared.put_off != identity()) &&
                  shared.arrived == 0 && rounds < most_rounds && pushed < given.most_edges;
        if (!in_order && pushed >= given.unordered_edges) {
            in_order = true;
            if (threadIdx.x == 0) shared.threshold = shared.lowest;
            __syncthreads();
        }
        swap(given.queue, given.next_queue);
        swap(given.chunks, given.next_chunks);
        swap(given.queued, given.next_queued);
    }
    report_launch(given, shared);
    clock.lap(ENDING);
    clock.report(given);
    if (threadIdx.x == 0) {
        arrive_and_wait(&control->barrier, epoch);  // the sizes have been read
        if (first_thread) {
            control->now = {shared.sizes.items, shared.sizes.chunks, shared.left,
                            shared.pushed,      shared.rented,       0};
            control->rounds = static_cast<u64>(rounds);
            control->epoch = epoch;
            control->step = shared.step;
            control->moved_at = shared.moved_at;
            of_all[PUT_OFF] = shared.put_off;
            of_all[THRESHOLD] = in_order ? shared.threshold : shared.lowest;
            control->in_order = in_order;
            for (i32 i = 0; i < 3; ++i) of_all[ROTATING + i] = identity();
            for (Sizes& sizes : control->sizes) sizes = {0, 0, 0, 0, 0, 0};
        }
    }
}
