// The columns of an answer: distances and predecessors of a search, with the caller's ids in their order, and
// validity bits.
//
// Row i is vertex rank[i] (i itself if rank is null).  Internal id v is the caller's labels[order[v]];
// without `order`, labels[v]; without `labels`, first + v; with `names`, names[v].  As in Arrow, a set bit
// marks a valid value, and a word covers 32 rows.  One pass replaces a gather, a comparison and a selection
// for each column.
//
// Invariant: `rank` and `order` are inverse to each other, or both null.
//
// Must agree with: answer in tests/kernel_references.py.
#include "rows.cuh"

#ifndef LABEL_BITS
#define LABEL_BITS 64
#endif
#if LABEL_BITS == 32
using label_t = i32;
#else
using label_t = i64;
#endif

__device__ __forceinline__ label_t label_of(const label_t* labels, i64 first, i64 place) {
    return labels != nullptr ? labels[place] : static_cast<label_t>(first + place);
}

// Looks up the internal id of a signed id of the caller; NONE if the graph does not have it.  One thread.
extern "C" __global__ void locate(label_t label, const vertex_t* __restrict__ rank,
                                  const label_t* __restrict__ labels, i64 first, i64 n, vertex_t* internal) {
    const i64 place = labels != nullptr ? lower_bound(labels, n, label) : static_cast<i64>(label) - first;
    const bool known = 0 <= place && place < n && label_of(labels, first, place) == label;
    const vertex_t at = known ? static_cast<vertex_t>(place) : NONE;
    *internal = known && rank != nullptr ? rank[place] : at;
}

struct AnswerArguments {
    const vertex_t* rank;
    const vertex_t* order;
    const label_t* labels;
    const label_t* names;
    i64 first;
    i64 n;
    const i32* distance;
    const vertex_t* predecessor;  // null: no column of predecessors
    label_t* vertex_column;
    i32* distance_column;
    u32* distance_bits;
    label_t* predecessor_column;
    u32* predecessor_bits;
};

extern "C" __global__ void answer(const AnswerArguments given) {
    const label_t* const labels = given.labels;
    const label_t* const names = given.names;
    const vertex_t* const predecessor = given.predecessor;
    const i64 n = given.n;
    for (i64 base = global_thread() - lane_id(); base < n; base += global_threads()) {
        const i64 row = base + lane_id();
        const bool inside = row < n;
        const i64 v = inside && given.rank != nullptr ? given.rank[row] : row;
        const i32 level = inside ? given.distance[v] : UNREACHED;
        const vertex_t parent = inside && predecessor != nullptr ? predecessor[v] : NONE;
        if (inside) {
            given.vertex_column[row] = label_of(labels, given.first, row);
            given.distance_column[row] = level;
        }
        if (parent != NONE && names != nullptr) {
            given.predecessor_column[row] = names[parent];
        } else if (parent != NONE) {
            const i64 place = given.order != nullptr ? given.order[parent] : parent;
            given.predecessor_column[row] = label_of(labels, given.first, place);
        }
        const u32 reached = __ballot_sync(FULL_WARP, level != UNREACHED);
        const u32 led = __ballot_sync(FULL_WARP, parent != NONE);
        if (lane_id() != 0) continue;
        given.distance_bits[base / WARP] = reached;
        if (predecessor != nullptr) given.predecessor_bits[base / WARP] = led;
    }
}
