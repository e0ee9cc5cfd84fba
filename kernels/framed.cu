// Packs columns into frames: each is stored as its difference from the smallest column of its group of 32, in
// as few bits as the group needs, so that a column can be read without those before it.
//
// rapids_trav/csr/packed.py describes the format.  Each block of 1024 edges has a warp, which goes over the
// 32 groups of the block; within a group each lane has an edge.
//
// Invariant: a block's words are written by one warp.
//
// Reference: J. Goldstein, R. Ramakrishnan, U. Shaft, Compressing relations and indexes, ICDE 1998 (frames).
//
// Must agree with: frame_columns in tests/kernel_references.py.
#include "framed.cuh"

// Returns the least column of the warp.
__device__ __forceinline__ column_t least_of_all(column_t column) {
    for (i32 step = WARP / 2; step > 0; step /= 2) {
        const column_t other = __shfl_xor_sync(FULL_WARP, column, step);
        if (other < column) column = other;
    }
    return column;
}

// Writes the number of words of each block.
extern "C" __global__ void measure_blocks(const vertex_t* __restrict__ columns, i64 n_edges, i64 n_blocks,
                                          i64* sizes) {
    for (i64 block = global_thread() / WARP; block < n_blocks; block += global_threads() / WARP) {
        i64 size = FRAMES;
        for (i32 group = 0; group < GROUPS; ++group) {
            const i64 edge = block * BLOCK_EDGES + group * GROUP_EDGES + lane_id();
            const column_t column = column_of(columns, edge, n_edges);
            size += bits_of_all(column - least_of_all(column));
        }
        if (lane_id() == 0) sizes[block] = size;
    }
}

// Writes the words of each block, from words[starts[block] - starts[0]] on.
extern "C" __global__ void pack_blocks(const vertex_t* __restrict__ columns, i64 n_edges, i64 n_blocks,
                                       const i64* __restrict__ starts, u32* words) {
    __shared__ u32 of_warps[MOST_WARPS][VERTEX_BITS + 2];
    u32* packed = of_warps[threadIdx.x / WARP];
    for (i64 block = global_thread() / WARP; block < n_blocks; block += global_threads() / WARP) {
        u32* const out = words + (starts[block] - starts[0]);
        i32 first = FRAMES;
        for (i32 group = 0; group < GROUPS; ++group) {
            const i64 edge = block * BLOCK_EDGES + group * GROUP_EDGES + lane_id();
            const column_t column = column_of(columns, edge, n_edges);
            const column_t least = least_of_all(column);
            const i32 width = bits_of_all(column - least);
            u32* const frame = out + group * FRAME_WORDS;
            if (lane_id() < COLUMN_WORDS) frame[lane_id()] = low_word(least, lane_id());
            if (lane_id() == COLUMN_WORDS)
                frame[COLUMN_WORDS] = static_cast<u32>(first << WIDTH_BITS | width);
            write_entries(column - least, width, packed, out + first);
            first += width;
        }
    }
}
