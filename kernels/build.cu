// Conversion of edges to compressed rows (CSR) by sorting.
//
// 1. pack_edges, pack_both, select_rows: pack edges into keys row * 2^32 + column, which sort by row and then
//    by column.
// 2. The host sorts the keys (a radix sort).
// 3. row_starts, unpack_columns: find where each row begins, and take the columns out of the keys.
//
// Keys are used for fewer than 2^31 vertices; with more, row_starts reads the sorted rows themselves
// (key_shift 0).  The other kernels count entries and derive arrays that searches read.
//
// Invariant: DROPPED sorts after every key of an edge.
//
// Reference: D. Merrill, A. Grimshaw, High Performance and Scalable Radix Sorting, Parallel Processing
// Letters 21(2), 2011 (the sort).
//
// Must agree with: build, first_neighbors and word_rows in tests/kernel_references.py.
#include "rows.cuh"
#include "weights.cuh"

constexpr u64 DROPPED = ~0ull;
constexpr i32 COLUMN_BITS = 32;

__device__ __forceinline__ u64 pack(vertex_t row, vertex_t column) {
    return static_cast<u64>(row) << COLUMN_BITS | static_cast<u64>(column);
}

extern "C" __global__ void pack_edges(const vertex_t* __restrict__ rows, const vertex_t* __restrict__ columns,
                                      i64 n_edges, u64* keys) {
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) keys[i] = pack(rows[i], columns[i]);
}

// Packs both directions of every edge, but a self-loop once.
extern "C" __global__ void pack_both(const vertex_t* __restrict__ rows, const vertex_t* __restrict__ columns,
                                     i64 n_edges, u64* keys) {
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) {
        const vertex_t row = rows[i];
        const vertex_t column = columns[i];
        keys[i] = pack(row, column);
        keys[n_edges + i] = row == column ? DROPPED : pack(column, row);
    }
}

// Adds to count[b], for each of n_blocks, the entries of the rows from b << shift up to the next block; with
// `both`, also the entries of the mirrored edges, except self-loops.
extern "C" __global__ void count_row_blocks(const vertex_t* __restrict__ rows,
                                            const vertex_t* __restrict__ columns, i64 n_edges, i32 both,
                                            i32 shift, i32 n_blocks, u64* count) {
    extern __shared__ u32 here[];
    for (i32 b = threadIdx.x; b < n_blocks; b += blockDim.x) here[b] = 0;
    __syncthreads();
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) {
        const vertex_t row = rows[i];
        const vertex_t column = columns[i];
        atomicAdd(&here[row >> shift], 1u);
        if (both && row != column) atomicAdd(&here[column >> shift], 1u);
    }
    __syncthreads();
    for (i32 b = threadIdx.x; b < n_blocks; b += blockDim.x) {
        if (here[b] != 0) atomicAdd(&count[b], here[b]);
    }
}

// Appends the keys of the entries whose row is in [first, after) to `keys`, which already holds *filled; with
// `both`, also those of mirrored edges; their weights, of `weight_bytes` each (0: there are none), go to the
// same places of `selected`.  A warp reads SELECTED edges for each lane before it reserves their places,
// since all warps reserve places in one word.
constexpr i32 SELECTED = 8;
extern "C" __global__ void select_rows(const vertex_t* __restrict__ rows,
                                       const vertex_t* __restrict__ columns, i64 n_edges, i32 both, i64 first,
                                       i64 after, u64* filled, u64* keys, const void* weights,
                                       i32 weight_bytes, void* selected) {
    for (i64 base = (global_thread() - lane_id()) * SELECTED; base < n_edges;
         base += global_threads() * SELECTED) {
        vertex_t row[SELECTED], column[SELECTED];
        u32 own[SELECTED], mirror[SELECTED], n_found = 0;
#pragma unroll
        for (i32 k = 0; k < SELECTED; ++k) {
            const i64 i = base + k * WARP + lane_id();
            const bool inside = i < n_edges;
            row[k] = inside ? rows[i] : NONE;
            column[k] = inside ? columns[i] : NONE;
            const bool back = both && row[k] != column[k];
            own[k] = __ballot_sync(FULL_WARP, inside && first <= row[k] && row[k] < after);
            mirror[k] = __ballot_sync(FULL_WARP, inside && back && first <= column[k] && column[k] < after);
            n_found += __popc(own[k]) + __popc(mirror[k]);
        }
        if (n_found == 0) continue;
        u64 place = lane_id() == 0 ? atomicAdd(filled, static_cast<u64>(n_found)) : 0;
        place = __shfl_sync(FULL_WARP, place, 0);
#pragma unroll
        for (i32 k = 0; k < SELECTED; ++k) {
            const i64 i = base + k * WARP + lane_id();
            if (own[k] >> lane_id() & 1) {
                const u64 own_place = place + __popc(own[k] & lanes_below());
                keys[own_place] = pack(row[k], column[k]);
                copy_weight(weights, weight_bytes, i, selected, own_place);
            }
            place += __popc(own[k]);
            if (mirror[k] >> lane_id() & 1) {
                const u64 mirror_place = place + __popc(mirror[k] & lanes_below());
                keys[mirror_place] = pack(column[k], row[k]);
                copy_weight(weights, weight_bytes, i, selected, mirror_place);
            }
            place += __popc(mirror[k]);
        }
    }
}

// Adds to count[v] the number of times that v occurs in a list of ids.
extern "C" __global__ void count_ids(const vertex_t* __restrict__ ids, i64 n_ids, u64* count) {
    for (i64 i = global_thread(); i < n_ids; i += global_threads()) atomicAdd(&count[ids[i]], 1ull);
}

// Writes row_offsets[r] for r in [first, after): `before` plus the number of keys below row r.
extern "C" __global__ void row_starts(const u64* __restrict__ keys, i64 n_keys, i64 first, i64 after,
                                      i64 before, i32 key_shift, edge_t* row_offsets) {
    for (i64 row = first + global_thread(); row < after; row += global_threads()) {
        const i64 below = lower_bound(keys, n_keys, static_cast<u64>(row) << key_shift);
        row_offsets[row] = static_cast<edge_t>(before + below);
    }
}

extern "C" __global__ void unpack_columns(const u64* __restrict__ keys, i64 n_keys,
                                          vertex_t* column_indices) {
    for (i64 i = global_thread(); i < n_keys; i += global_threads()) {
        column_indices[i] = static_cast<vertex_t>(keys[i] & 0xffffffffull);
    }
}

// Finds the row of every edge by searching the offsets: all threads get the same number of edges, whatever
// the lengths of the rows.
extern "C" __global__ void expand_rows(const edge_t* __restrict__ row_offsets, i64 n_rows, i64 n_edges,
                                       vertex_t* rows) {
    for (i64 edge = global_thread(); edge < n_edges; edge += global_threads()) {
        const i64 after = lower_bound(row_offsets, n_rows + 1, static_cast<edge_t>(edge + 1));
        rows[edge] = static_cast<vertex_t>(after - 1);
    }
}

// Copies the first entry of each row: NONE if the row is empty, -2 - u if u is its only entry.
extern "C" __global__ void first_neighbors(const edge_t* __restrict__ row_offsets,
                                           const vertex_t* __restrict__ column_indices, i64 n_rows,
                                           vertex_t* first) {
    for (i64 row = global_thread(); row < n_rows; row += global_threads()) {
        const edge_t begin = row_offsets[row];
        const edge_t degree = row_offsets[row + 1] - begin;
        if (degree == 0) {
            first[row] = NONE;
        } else {
            first[row] = degree == 1 ? -2 - column_indices[begin] : column_indices[begin];
        }
    }
}

// Writes, for every 32 rows, where the first begins and the length that all have, or 0 if they differ.
extern "C" __global__ void word_rows(const edge_t* __restrict__ row_offsets, i64 n_rows, edge_t* rows) {
    for (i64 base = global_thread() - lane_id(); base < n_rows; base += global_threads()) {
        const i64 row = base + lane_id();
        const edge_t begin = row < n_rows ? row_offsets[row] : 0;
        const edge_t degree = row < n_rows ? row_offsets[row + 1] - begin : 0;
        const bool equal = __all_sync(FULL_WARP, degree == __shfl_sync(FULL_WARP, degree, 0));
        if (lane_id() > 0) continue;
        rows[base / 16] = begin;
        rows[base / 16 + 1] = equal ? degree : 0;
    }
}
