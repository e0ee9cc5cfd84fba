// A search by several ranks, with one launch each: the ids of the ranks' vertices, and the meeting (barrier)
// of the ranks at the end of a level.
//
// Vertex number `local` of rank r has the id r * n_each + local.  A rank finds only its own vertices.  Its
// rows in `in` are the rows of its own vertices, whose neighbours are ids; its rows in `out` are rows of all
// ids, whose neighbours are its own vertices.  Queues, `visited` and the answer have the rank's own vertices.
// The bitmaps of the frontier have all ids; each rank has a copy, and writes only its own part of new ones.
//
// Ranks meet once a level: each writes its totals into a slot in the memory of every rank, so all know the
// same sums and make the same decisions.  There are two slots for each pair of ranks, as a rank can be one
// meeting ahead.  A rank that waits too long, or is told to stop, tells all others to stop.
//
// Memory of other ranks is read with volatile loads, which bypass the caches.  A fence for the system takes
// several times as long as a fence for the GPU, so only the last block to arrive issues one: it also releases
// what the other blocks wrote and had released to that block.
#pragma once
#include "fused_frontier.cuh"
#include "fused_level.cuh"

// Most ranks of a search.
#ifndef MOST_RANKS
#define MOST_RANKS 64
#endif

// Totals of a rank's level, written by that rank.
struct alignas(128) Slot {
    u64 listed;  // or, after offers, those for the slot's owner
    u64 vertices;
    u64 edges;
    u64 targets;
    u64 deferred;
    u64 long_rows;  // not 0 if one of the vertices listed has a long row
    u32 meeting;    // number of the meeting; written last
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

// State that the blocks of a rank share about their meetings; zero before the first search of a graph.
struct Meeting {
    u32 ended;   // arrivals at the rank's barrier when the last meeting ended
    u32 number;  // of the last meeting
    u32 stop;    // as in `Shared`, for the host
    Clock clock;
    alignas(128) Level total;
    u64 listed[MOST_RANKS];
    u64 offers[MOST_RANKS];  // for each rank, until they are told (LEAN)
};

// Why a search has to end, for the host (engines/multigpu/one_launch/verdict.py): STOPPED if the host asked
// for it, otherwise the number of a rank that waited too long and of the rank that it waited for.
[[maybe_unused]] constexpr u32 STOPPED = ~0u;
__device__ __forceinline__ u32 too_late(i32 rank, i32 missing) {
    return static_cast<u32>(1 + rank * MOST_RANKS + missing);
}

__device__ __forceinline__ u32 load_acquire_system(const u32* address) {
    u32 value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ void store_release_system(u32* address, u32 value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ __forceinline__ u64 nanoseconds() {
    i64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return static_cast<u64>(now);
}

template <class T>
__device__ __forceinline__ T load_remote(const T* address) {
    return *static_cast<const volatile T*>(address);
}

template <class T>
__device__ __forceinline__ void store_remote(T* address, T value) {
    *static_cast<volatile T*>(address) = value;
}

// The ranks of a search, from the point of view of one of them.
struct Ranks {
    Shared* const* shared;
    Meeting* meeting;
    u64 deadline;
    vertex_t n_each;
    i32 rank;
    i32 n;

    __device__ __forceinline__ explicit Ranks(const Arguments& given)
        : shared(given.shared),
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
    __device__ __forceinline__ vertex_t first() const { return n_each * rank; }
    __device__ __forceinline__ vertex_t words_each() const { return n_each / 32; }
    __device__ __forceinline__ vertex_t n_words() const { return words_each() * n; }
    // The part of a bitmap that has this rank's vertices.
    __device__ __forceinline__ u32* own_part(u32* bitmap) const { return bitmap + words_each() * rank; }
    // The frontier in a bitmap: this rank's copy, or each rank's part in the memory of that rank.
    __device__ __forceinline__ Frontier frontier(const u32* bitmap, [[maybe_unused]] bool looks_up) const {
#if REMOTE_LOOK_UPS
        const i64 place = reinterpret_cast<const u8*>(bitmap) - reinterpret_cast<u8*>(shared[rank]);
        return Frontier{bitmap, nullptr, 0, looks_up ? words_each() : 0, place, shared};
#else
        return Frontier{bitmap, nullptr, 0};
#endif
    }
    // The vertex's number among this rank's vertices, or NONE.
    __device__ __forceinline__ vertex_t own(vertex_t id) const {
        return id != NONE && id / n_each == rank ? id - first() : NONE;
    }
};

// Waits until a slot is written; returns 0, or why the search has to end.
__device__ __forceinline__ u32 wait_for(const Slot& slot, u32 number, const u32* stop, u64 deadline,
                                        u32 if_late) {
    constexpr u32 ASK_EVERY = 64;  // tries; reading the clock takes as long as a few tries
    u64 began = 0;
    for (u32 tries = 1; load_acquire_system(&slot.meeting) != number; ++tries) {
        if (tries % ASK_EVERY) continue;
        const u32 told = load_acquire_system(stop);
        if (told) return told;
        const u64 now = nanoseconds();
        if (!began) began = now;
        if (now - began > deadline) return if_late;
    }
    return 0;
}

// Exchanges the totals of a level with the other ranks; one warp of the rank calls it when all its blocks
// have arrived.  After offers, each rank is told the number of offers for it instead of the vertices listed.
__device__ __forceinline__ void exchange_totals(const Ranks& ranks, const Level* level, bool offers) {
    Meeting& meeting = *ranks.meeting;
    Shared& own = *ranks.shared[ranks.rank];
    const u32 number = __ldcg(&meeting.number) + 1;
    for (i32 r = lane_id(); r < ranks.n; r += WARP) {
        Slot& slot = ranks.shared[r]->slots[number & 1][ranks.rank];
        store_remote(&slot.listed, __ldcg(offers ? &meeting.offers[r] : &level->narrow));
        if (offers) meeting.offers[r] = 0;
        store_remote(&slot.vertices, __ldcg(&level->vertices));
        store_remote(&slot.edges, __ldcg(&level->edges));
        store_remote(&slot.targets, __ldcg(&level->targets));
        store_remote(&slot.deferred, __ldcg(&level->deferred));
        store_remote(&slot.long_rows, __ldcg(&level->hubs));
        store_release_system(&slot.meeting, number);
    }
    Level sum{};
    u32 stop = 0;
    for (i32 r = lane_id(); r < ranks.n && !stop; r += WARP) {
        const Slot& slot = own.slots[number & 1][r];
        stop = wait_for(slot, number, &own.stop, ranks.deadline, too_late(ranks.rank, r));
        const u64 listed = load_remote(&slot.listed);
        meeting.listed[r] = listed;
        sum.narrow += listed;
        sum.vertices += load_remote(&slot.vertices);
        sum.edges += load_remote(&slot.edges);
        sum.targets += load_remote(&slot.targets);
        sum.deferred += load_remote(&slot.deferred);
        sum.hubs += load_remote(&slot.long_rows);
    }
    for (i32 step = WARP / 2; step > 0; step /= 2) {
        stop = max(stop, __shfl_xor_sync(FULL_WARP, stop, step));
    }
    if (stop) {
        for (i32 r = lane_id(); r < ranks.n; r += WARP) store_release_system(&ranks.shared[r]->stop, stop);
    }
    sum.narrow = warp_sum(sum.narrow);
    sum.vertices = warp_sum(sum.vertices);
    sum.edges = warp_sum(sum.edges);
    sum.targets = warp_sum(sum.targets);
    sum.deferred = warp_sum(sum.deferred);
    sum.hubs = warp_sum(sum.hubs);
    if (lane_id() == 0) {
        meeting.total = sum;
        meeting.number = number;
        meeting.stop = stop;
    }
}

// Notes the time at which the last block ends; all threads call it.
__device__ __forceinline__ void stop_clock(const Ranks& ranks) {
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&ranks.meeting->clock.finished, nanoseconds());
}

// A block's copy of the results of the last meeting, in shared memory.
struct RanksShared {
    u64 listed[MOST_RANKS];  // entries of each rank's list
    u32 stop;
};

// Ends a level (or a part of one) on all ranks: like end_level(), but the totals are those of all ranks.
// Returns false if the search has to end without an answer.
__device__ __forceinline__ bool meet(BlockShared& shared, RanksShared& heard, Control* control, Level* level,
                                     const Tally& tally, u32& epoch, const Ranks& ranks,
                                     bool offers = false) {
    add_tally(tally, shared.sum);
    __syncthreads();
    if (warp_in_block() == 0) {
        Meeting& meeting = *ranks.meeting;
        bool last = false;
        if (lane_id() == 0) {
            add_totals(shared.sum, level);
            shared.sum = Share{};
            epoch += gridDim.x;
            last = add_acquire_release(&control->barrier, 1) + 1 == epoch;
        }
        if (__shfl_sync(FULL_WARP, static_cast<u32>(last), 0)) {
            __syncwarp();
            exchange_totals(ranks, level, offers);
            __syncwarp();
            if (lane_id() == 0) store_release(&meeting.ended, epoch);
        }
        if (lane_id() == 0) {
            while (static_cast<i32>(load_acquire(&meeting.ended) - epoch) < 0) {
            }
        }
        __syncwarp();
        // These loads are in flight together with those of the totals.
        constexpr i32 LISTS = (MOST_RANKS + WARP - 1) / WARP;
        u64 listed[LISTS];
#pragma unroll
        for (i32 k = 0; k < LISTS; ++k) {
            const i32 r = k * WARP + lane_id();
            listed[k] = r < ranks.n ? __ldcg(&meeting.listed[r]) : 0;
        }
        if (lane_id() == 0) {
            heard.stop = __ldcg(&meeting.stop);
            see_totals(shared.seen, &meeting.total);
#if TRACE
            shared.seen.examined = __ldcg(&level->examined);  // by this rank
            shared.seen.looked = __ldcg(&level->looked);
#endif
        }
#pragma unroll
        for (i32 k = 0; k < LISTS; ++k) {
            const i32 r = k * WARP + lane_id();
            if (r < ranks.n) heard.listed[r] = listed[k];
        }
    }
    __syncthreads();
    return heard.stop == 0;
}
