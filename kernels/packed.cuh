// Writes and reads entries of equal numbers of bits, of which the blocks of packed.cu and framed.cu consist.
//
// rapids_trav/csr/packed.py describes the formats.
#pragma once
#include "common.cuh"

constexpr i32 GROUPS = 32;  // of a block
[[maybe_unused]] constexpr i32 COLUMN_WORDS = VERTEX_BITS / 32;
constexpr i32 GROUP_EDGES = WARP;
[[maybe_unused]] constexpr i32 BLOCK_EDGES = GROUPS * GROUP_EDGES;
[[maybe_unused]] constexpr i32 MOST_WARPS = 32;  // of a thread block

#if VERTEX_BITS == 64
using column_t = u64;
#else
using column_t = u32;
#endif

__device__ __forceinline__ u32 low_word(column_t column, i32 k) {
    return static_cast<u32>(static_cast<u64>(column) >> 32 * k);
}

__device__ __forceinline__ column_t read_column(const u32* words) {
    u64 column = words[0];
    if (COLUMN_WORDS == 2) column |= static_cast<u64>(words[1]) << 32;
    return static_cast<column_t>(column);
}

// Returns the bits that the largest value of the warp has.
__device__ __forceinline__ i32 bits_of_all(column_t value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) value |= __shfl_xor_sync(FULL_WARP, value, step);
    const u64 wide = value;
    const u32 high = static_cast<u32>(wide >> 32);
    const u32 low = static_cast<u32>(wide);
    return high != 0 ? 2 * WARP - __clz(static_cast<i32>(high)) : WARP - __clz(static_cast<i32>(low));
}

// Returns the column of this lane's edge; beyond the last edge, the column of the last edge.
__device__ __forceinline__ column_t column_of(const vertex_t* columns, i64 edge, i64 n_edges) {
    return static_cast<column_t>(columns[edge < n_edges ? edge : n_edges - 1]);
}

// Writes the entries of a warp's lanes, of `width` bits each, to `width` words; `packed` is shared memory of
// the warp, of `width` + 1 words.
__device__ __forceinline__ void write_entries(column_t entry, i32 width, u32* packed, u32* out) {
    for (i32 word = lane_id(); word < width; word += WARP) packed[word] = 0;
    __syncwarp();
    const i32 bit = lane_id() * width;
    for (i32 done = 0; done < width;) {
        const i32 at = bit + done;
        atomicOr(&packed[at / 32], static_cast<u32>(static_cast<u64>(entry) >> done) << at % 32);
        done += 32 - at % 32;
    }
    __syncwarp();
    for (i32 word = lane_id(); word < width; word += WARP) out[word] = packed[word];
    __syncwarp();
}

// Returns the bits `bit` to `bit + width - 1` of `words`.
__device__ __forceinline__ column_t entry_at(const u32* words, i32 bit, i32 width) {
    if (width == 0) return 0;
    const i32 word = bit / 32;
    const i32 shift = bit % 32;
    u64 entry = words[word];
    if (shift + width > 32) entry |= static_cast<u64>(words[word + 1]) << 32;
    entry >>= shift;
    if (shift + width > 64) entry |= static_cast<u64>(words[word + 2]) << (64 - shift);
    return static_cast<column_t>(width < 64 ? entry & ((1ull << width) - 1) : entry);
}
