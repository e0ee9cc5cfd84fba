// A search by several ranks, with one launch each: the ids of the ranks' vertices, and the meeting (barrier)
// of the ranks at the end of a level.
//
// Vertex number `local` of rank r has the id r * n_each + local.  A rank finds only its own vertices.  Its
// rows in `in` are the rows of its own vertices, whose neighbours are ids; its rows in `out` are rows of all
// ids, whose neighbours are its own vertices.  Queues, `visited` and the answer have the rank's own vertices.
// The bitmaps of the frontier have all ids; each rank has a copy, and a rank writes only its own part, in its
// own copy or in all of them.
//
// Ranks meet once a level.
//
// 1. The block that completes one of the rank's totals, as the last that adds to it, writes it into a slot in
//    the memory of every rank.
// 2. Every block of every rank reads the slots in its rank's memory.  So all blocks know the same sums and
//    make the same decisions.
//
// Each word of a slot has the number of the meeting in its upper half and half a total in its lower, so words
// may arrive in any order, and no fence is needed between them.  There are two slots for each pair of ranks,
// as a rank can be one meeting ahead.  A rank that waits too long, or has to stop, stops all others
// (fused_leaving.cuh).
//
// Memory of other ranks is read and written with volatile loads and stores, which bypass the caches.  A fence
// for the system takes several times as long as a fence for the GPU, so only a block that completes totals
// issues one: it also releases what the other blocks wrote, to this rank's memory or to another's, and had
// released to that block.
#pragma once
#include "fused_frontier.cuh"
#include "fused_level.cuh"

// Most ranks of a search.
#ifndef MOST_RANKS
#define MOST_RANKS 64
#endif

constexpr i32 SLOT_WORDS = 2 * TOTALS;

// Totals of a rank's level, written by that rank: each word the number of the meeting above half a total.
// `narrow` counts the vertices listed (or, after offers, those offered to the slot's owner), and `hubs` is
// not 0 if one of them has a long row.
struct alignas(128) Slot {
    u64 words[SLOT_WORDS];
};

// The beginning of the memory that other ranks can reach.
struct Shared {
    u32 stop;  // 0, or why the search has to end
    Slot slots[2][MOST_RANKS];
};

// Times of a rank's search, in nanoseconds.  Between them the rank first works, then waits for other ranks to
// begin, as the launches of the ranks do not begin at the same time, and then works again.
struct Clock {
    u64 began;
    u64 arrived;  // at the first meeting
    u64 met;      // where the first meeting ended
    u64 finished;
};

// What lasts from search to search; zero before the first search of a graph.
struct Meeting {
    u32 number;  // of the last meeting
    u32 stop;    // as in `Shared`, for the host
    Clock clock;
    alignas(128) u64 offers[MOST_RANKS];  // for each rank, until they are sent (LEAN)
};

// What a block knows of the other ranks.
struct RanksShared {
    Shared* reached[MOST_RANKS];     // memory of each rank
    u64 totals[MOST_RANKS][TOTALS];  // of each rank, from the last meeting
    u64 offered[MOST_RANKS];         // to each rank, as this block sends them (LEAN)
    u32 number;                      // of the last meeting

    // Entries of a rank's list.
    __device__ __forceinline__ u64 listed(i32 rank) const { return totals[rank][0]; }
};

// Why a search has to end, for the host (engines/multigpu/one_launch/verdict.py): STOPPED if the host asked
// for it, otherwise the number of a rank that waited too long and of the rank that it waited for.
[[maybe_unused]] constexpr u32 STOPPED = ~0u;
__device__ __forceinline__ u32 too_late(i32 rank, i32 missing) {
    return static_cast<u32>(1 + rank * MOST_RANKS + missing);
}

__device__ __forceinline__ u64 nanoseconds() {
    i64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return static_cast<u64>(now);
}

// Volatile access to the memory of ranks.  The instructions say that it is global memory.  Otherwise
// compilers infer the kind of memory, and as the addresses are computed beside pointers to shared memory,
// NVRTC 13.0 has taken one for an address there.
template <class T>
__device__ __forceinline__ T load_remote(const T* address) {
    T value;
    if constexpr (sizeof(T) == sizeof(u32)) {
        asm volatile("ld.volatile.global.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    } else {
        asm volatile("ld.volatile.global.b64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    }
    return value;
}

template <class T>
__device__ __forceinline__ void store_remote(T* address, T value) {
    if constexpr (sizeof(T) == sizeof(u32)) {
        asm volatile("st.volatile.global.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
    } else {
        asm volatile("st.volatile.global.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
    }
}

// The ranks of a search, from the point of view of one of them.
struct Ranks {
    Shared* const* shared;  // of each rank, in the block's shared memory
    Meeting* meeting;
    u64 deadline;
    vertex_t n_each;
    i32 rank;
    i32 n;

    __device__ __forceinline__ Ranks(const Arguments& given, const RanksShared& peers)
        : shared(peers.reached),
          meeting(given.meeting),
          deadline(given.deadline),
          n_each(given.n_each),
          rank(given.rank),
          n(given.n_ranks) {}

    // Address, in the memory of another rank, of what corresponds to `own` in this rank's.
    template <class T>
    __device__ __forceinline__ T* at(i32 other, T* own) const {
        const i64 place = reinterpret_cast<u8*>(own) - reinterpret_cast<u8*>(shared[rank]);
        return reinterpret_cast<T*>(reinterpret_cast<u8*>(shared[other]) + place);
    }
    // The k-th rank after this one, counted in a circle, so that each rank begins with another one.
    __device__ __forceinline__ i32 after(i32 k) const { return rank + k < n ? rank + k : rank + k - n; }
    __device__ __forceinline__ vertex_t first() const { return n_each * rank; }
    __device__ __forceinline__ vertex_t words_each() const { return n_each / 32; }
    __device__ __forceinline__ vertex_t n_words() const { return words_each() * n; }
    // The part of a bitmap that has this rank's vertices.
    __device__ __forceinline__ u32* own_part(u32* bitmap) const { return bitmap + words_each() * rank; }
    // The vertex's number among this rank's vertices, or NONE.
    __device__ __forceinline__ vertex_t own(vertex_t id) const {
        return id != NONE && id / n_each == rank ? id - first() : NONE;
    }
};

// Copies what a block needs to know of the ranks; complete after the next __syncthreads().
__device__ __forceinline__ void begin_meetings(const Arguments& given, RanksShared& peers, Leaving& leaving) {
    for (i32 r = threadIdx.x; r < given.n_ranks; r += BLOCK_SIZE) peers.reached[r] = given.shared[r];
    if (threadIdx.x == 0) {
        peers.number = __ldcg(&given.meeting->number);
        u32* const* const stop = reinterpret_cast<u32* const*>(peers.reached);  // the first word there
        leaving = Leaving{stop, given.n_ranks, given.rank, &given.meeting->stop, 0};
    }
}

// Adds the block's share to the rank's totals; its first warp calls this.  Returns which of them are complete
// by that, a bit for each, and each lane's total.
__device__ __forceinline__ u32 arrive_among_ranks(const BlockShared& shared, Control* control, Level* level,
                                                  u32& epoch, u32 times, u64& total) {
    if (lane_id() == 0) add_traced(shared.sum, level);
    bool last = false;
#if COUNTED
    const u64 share = lane_share(shared.sum);
    if (lane_id() < TOTALS) {
        total = add_acquire_release(lane_total(level), share) + share;
        last = arrivals(total) == times * gridDim.x;
    }
    total >>= ARRIVAL_BITS;
    return __ballot_sync(FULL_WARP, last);
#else
    if (lane_id() == 0) {
        add_shares(shared.sum, level);
        epoch += gridDim.x;
        last = add_acquire_release(&control->barrier, 1) + 1 == epoch;
    }
    if (!__any_sync(FULL_WARP, last)) return 0;
    total = __ldcg(lane_total(level));
    return (1 << TOTALS) - 1;
#endif
}

// Sends to all ranks those totals of this one that are complete; a warp calls it.  After offers, each rank is
// sent how many are for it, in place of the vertices listed.
__device__ __forceinline__ void send_totals(const Ranks& ranks, RanksShared& peers, u32 ready, u64 total,
                                            u32 number, bool offers, bool shown) {
    const u32 lane = lane_id();
    const u32 field = min(lane / 2, static_cast<u32>(TOTALS - 1));
    const bool sends = lane < SLOT_WORDS && ready >> field & 1;
    total = __shfl_sync(FULL_WARP, total, field);
    offers &= ready & 1;
    if (offers) {
        for (i32 r = lane_id(); r < ranks.n; r += WARP) {
            peers.offered[r] = __ldcg(&ranks.meeting->offers[r]);
            ranks.meeting->offers[r] = 0;  // before other blocks hear of this level and offer more
        }
        __syncwarp();
    }
    if (shown) {
        __threadfence_system();
    } else {
        __threadfence();
    }
    for (i32 r = 0; r < ranks.n; ++r) {
        const u64 sent = offers && field == 0 ? peers.offered[r] : total;
        const u64 half = lane % 2 ? sent >> 32 : sent & 0xffffffffu;
        u64* const words = ranks.shared[r]->slots[number & 1][ranks.rank].words;
        if (sends) store_remote(words + lane, static_cast<u64>(number) << 32 | half);
    }
}

// Waits until a rank has sent its totals, or the search has to end; whole warps call it.
__device__ __forceinline__ void receive_totals(const Ranks& ranks, i32 from, u32 number, RanksShared& peers,
                                               Leaving& leaving) {
    const u32 lane = lane_id();
    const Slot& slot = ranks.shared[ranks.rank]->slots[number & 1][from];
    const u64* const word = slot.words + min(lane, static_cast<u32>(SLOT_WORDS - 1));
    u64 value = load_acquire_system(word);
    u64 began = 0;
    for (u32 tries = 1; __any_sync(FULL_WARP, value >> 32 != number); ++tries) {
        value = load_acquire_system(word);
        if (tries % ASK_EVERY) continue;
        u32 why = 0;
        if (lane == 0) {
            why = load_acquire_system(leaving.own_stop());
            const u64 now = nanoseconds();
            if (!began) began = now;
            if (!why && now - began > ranks.deadline) why = too_late(ranks.rank, from);
        }
        why = __shfl_sync(FULL_WARP, why, 0);
        if (!why) continue;
        if (lane == 0) leave(leaving, why);
        return;
    }
    if (lane < SLOT_WORDS) reinterpret_cast<u32*>(peers.totals[from])[lane] = static_cast<u32>(value);
}

// Notes the time at which the last block ends; all threads call it.
__device__ __forceinline__ void stop_clock(const Ranks& ranks) {
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&ranks.meeting->clock.finished, nanoseconds());
}

// Ends a level (or a part of one) on all ranks: as end_level(), but the totals are those of all ranks.
// `shown` says that other ranks will read what this one has written to its own memory.  Returns false if the
// search has to end without an answer.
__device__ __forceinline__ bool meet(BlockShared& shared, RanksShared& peers, Control* control, Level* level,
                                     const Tally& tally, u32& epoch, const Ranks& ranks, u32 times,
                                     bool shown = true, bool offers = false) {
    add_tally(tally, shared.sum);
    __syncthreads();
    const u32 number = peers.number + 1;
    if (warp_in_block() == 0) {
        u64 total = 0;
        const u32 ready = arrive_among_ranks(shared, control, level, epoch, times, total);
        __syncwarp();
        if (lane_id() == 0) shared.sum = Share{};
        if (ready) send_totals(ranks, peers, ready, total, number, offers, shown);
    }
    for (i32 r = warp_in_block(); r < ranks.n; r += WARPS) {
        receive_totals(ranks, r, number, peers, shared.leaving);
    }
    __syncthreads();
    if (threadIdx.x < TOTALS) {
        u64 sum = 0;
        for (i32 r = 0; r < ranks.n; ++r) sum += peers.totals[r][threadIdx.x];
        reinterpret_cast<u64*>(&shared.seen)[threadIdx.x] = sum;
    }
    if (threadIdx.x == 0) {
        peers.number = number;
        see_traced(shared.seen, level);  // of this rank
    }
    __syncthreads();
    return shared.leaving.why == 0;
}
