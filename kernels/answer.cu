// Writes the columns of an answer: vertices, distances and predecessors of one search, or of each of many, in
// the caller's ids and in their order, with the validity bits of nulls.
//
// Row i is vertex rank[i] (i itself if rank is null); labels.cuh translates internal ids into the caller's.
// As in Arrow, a set bit marks a valid value, and a word covers 32 rows.  One pass does the work of a gather,
// a comparison and a selection for each column.
//
// Invariant: `rank` and `order` are inverse to each other, or both null.
//
// Reference: Apache Arrow columnar format, section "Validity bitmaps".
//
// Must agree with: answer in tests/kernel_references.py.
#include "labels.cuh"
#include "rows.cuh"

// Returns the internal id of a signed id of the caller; NONE if the graph does not have it.
__device__ __forceinline__ vertex_t internal_of(label_t label, const vertex_t* rank, const label_t* labels,
                                                i64 first, i64 n) {
    const i64 place = labels != nullptr ? lower_bound(labels, n, label) : static_cast<i64>(label) - first;
    const bool known = 0 <= place && place < n && label_of(labels, first, place) == label;
    const vertex_t at = known ? static_cast<vertex_t>(place) : NONE;
    return known && rank != nullptr ? rank[place] : at;
}

// Looks up one id, with one thread.
extern "C" __global__ void locate(label_t label, const vertex_t* __restrict__ rank,
                                  const label_t* __restrict__ labels, i64 first, i64 n, vertex_t* internal) {
    *internal = internal_of(label, rank, labels, first, n);
}

extern "C" __global__ void locate_each(const label_t* __restrict__ given, i64 n_given,
                                       const vertex_t* __restrict__ rank, const label_t* __restrict__ labels,
                                       i64 first, i64 n, vertex_t* internal) {
    for (i64 i = global_thread(); i < n_given; i += global_threads()) {
        internal[i] = internal_of(given[i], rank, labels, first, n);
    }
}

struct AnswerArguments {
    const vertex_t* rank;
    const vertex_t* order;
    const label_t* labels;
    const label_t* names;
    i64 first;
    i64 n;
    i64 n_searches;
    const vertex_t* sources;  // of each search
    const i32* distance;
    const vertex_t* predecessor;  // null: no column of predecessors
    label_t* source_column;
    label_t* vertex_column;
    i32* distance_column;
    u32* distance_bits;
    label_t* predecessor_column;
    u32* predecessor_bits;
    u64* nulls;  // of distances and of predecessors, 0 before
};

// Writes the rows of one search, or of EACH of many, one search after another.
template <bool EACH>
__device__ __forceinline__ void write_answer(const AnswerArguments& given) {
    const label_t* const labels = given.labels;
    const vertex_t* const predecessor = given.predecessor;
    const i64 n = given.n, n_rows = EACH ? n * given.n_searches : n;
    u64 unreached = 0, rootless = 0;
    for (i64 base = global_thread() - lane_id(); base < n_rows; base += global_threads()) {
        const i64 i = base + lane_id();
        const bool inside = i < n_rows;
        const i64 search = EACH && inside ? i / n : 0;
        const i64 row = i - search * n;
        const i64 v = search * n + (inside && given.rank != nullptr ? given.rank[row] : row);
        const i32 level = inside ? given.distance[v] : UNREACHED;
        const vertex_t parent = inside && predecessor != nullptr ? predecessor[v] : NONE;
        if (inside) {
            given.vertex_column[i] = label_of(labels, given.first, row);
            given.distance_column[i] = level;
        }
        if (EACH && inside) {
            given.source_column[i] =
                name_of(given.names, given.order, labels, given.first, given.sources[search]);
        }
        if (parent != NONE) {
            given.predecessor_column[i] = name_of(given.names, given.order, labels, given.first, parent);
        }
        const u32 reached = __ballot_sync(FULL_WARP, level != UNREACHED);
        const u32 led = __ballot_sync(FULL_WARP, parent != NONE);
        if (lane_id() != 0) continue;
        given.distance_bits[base / WARP] = reached;
        if (predecessor != nullptr) given.predecessor_bits[base / WARP] = led;
        const i32 rows = n_rows - base < WARP ? static_cast<i32>(n_rows - base) : WARP;
        unreached += static_cast<u64>(rows - __popc(reached));
        rootless += static_cast<u64>(rows - __popc(led));
    }
    if (!EACH || lane_id() != 0) return;
    if (unreached != 0) atomicAdd(&given.nulls[0], unreached);
    if (rootless != 0) atomicAdd(&given.nulls[1], rootless);
}

extern "C" __global__ void answer(const AnswerArguments given) {
    write_answer<false>(given);
}

extern "C" __global__ void answer_each(const AnswerArguments given) {
    write_answer<true>(given);
}
