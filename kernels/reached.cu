// Writes the rows of an answer for the vertices that a search has reached, in the order of the caller's ids.
//
// 1. count_reached: each block counts the reached vertices among its rows, and sets bits of the mask.
// 2. list_reached: each block writes its rows after those of the blocks before it, whose counts it adds up.
//
// Between the launches the host reads the number of rows.  Row i is vertex rank[i] (i itself if rank is
// null); labels.cuh translates internal ids into the caller's.  A set bit marks a valid predecessor, as in
// Arrow; only sources have none.
//
// Invariants: both kernels are launched with the same grid, so that a block has the same rows in both; `rank`
// and `order` are inverse to each other, or both null.
//
// Reference: G. Blelloch, Prefix Sums and Their Applications, 1990 (compaction).
//
// Must agree with: reached in tests/kernel_references.py.
#include "block_sum.cuh"
#include "labels.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif

extern "C" __global__ void count_reached(const vertex_t* __restrict__ rank, const i32* __restrict__ distance,
                                         i64 n, i64 block_rows, u32* counts, u32* bits) {
    __shared__ i32 warp_totals[BLOCK_SIZE / WARP];
    for (i64 word = global_thread(); word < (n + WARP - 1) / WARP; word += global_threads()) {
        bits[word] = FULL_WARP;
    }
    const i64 begin = blockIdx.x * block_rows;
    const i64 end = begin + block_rows < n ? begin + block_rows : n;
    i32 reached = 0;
    for (i64 row = begin + threadIdx.x; row < end; row += BLOCK_SIZE) {
        reached += distance[rank != nullptr ? rank[row] : row] != UNREACHED;
    }
    const i32 up_to = block_inclusive_sum(reached, warp_totals);
    if (threadIdx.x == BLOCK_SIZE - 1) counts[blockIdx.x] = static_cast<u32>(up_to);
}

struct ReachedArguments {
    const vertex_t* rank;
    const vertex_t* order;
    const label_t* labels;
    const label_t* names;
    i64 first;
    i64 n;
    i64 block_rows;
    const i32* distance;
    const vertex_t* predecessor;  // null: no column of predecessors
    const u32* counts;
    vertex_t* vertices;  // internal ids of the rows; null: not wanted
    label_t* vertex_column;
    i32* distance_column;
    label_t* predecessor_column;
    u32* predecessor_bits;
};

extern "C" __global__ void list_reached(const ReachedArguments given) {
    __shared__ i32 warp_totals[BLOCK_SIZE / WARP];
    __shared__ u64 rows_before;
    if (threadIdx.x == 0) rows_before = 0;
    __syncthreads();
    u64 before = 0;
    for (i64 block = threadIdx.x; block < blockIdx.x; block += BLOCK_SIZE) before += given.counts[block];
    if (before != 0) atomicAdd(&rows_before, before);
    __syncthreads();
    const i64 begin = blockIdx.x * given.block_rows;
    const i64 end = begin + given.block_rows < given.n ? begin + given.block_rows : given.n;
    for (i64 tile = begin; tile < end; tile += BLOCK_SIZE) {
        const i64 row = tile + threadIdx.x;
        const i64 v = row < end && given.rank != nullptr ? given.rank[row] : row;
        const i32 level = row < end ? given.distance[v] : UNREACHED;
        const bool reached = level != UNREACHED;
        const i32 up_to = block_inclusive_sum(reached, warp_totals);
        const i64 place = static_cast<i64>(rows_before) + up_to - 1;
        if (reached) {
            given.vertex_column[place] = label_of(given.labels, given.first, row);
            given.distance_column[place] = level;
            if (given.vertices != nullptr) given.vertices[place] = static_cast<vertex_t>(v);
        }
        if (reached && given.predecessor != nullptr) {
            const vertex_t parent = given.predecessor[v];
            if (parent == NONE) {
                atomicAnd(&given.predecessor_bits[place / WARP], ~(1u << (place % WARP)));
            } else {
                given.predecessor_column[place] =
                    name_of(given.names, given.order, given.labels, given.first, parent);
            }
        }
        __syncthreads();  // every thread has read where the tile's rows begin
        if (threadIdx.x == BLOCK_SIZE - 1) rows_before += static_cast<u64>(up_to);
        __syncthreads();
    }
}
