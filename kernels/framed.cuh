// Reads single columns of blocks of 1024 edges that are stored in frames (framed.cu).
//
// rapids_trav/csr/packed.py describes the format.
#pragma once
#include "packed.cuh"

constexpr i32 FRAME_WORDS = COLUMN_WORDS + 1;
[[maybe_unused]] constexpr i32 FRAMES = GROUPS * FRAME_WORDS;
constexpr i32 WIDTH_BITS = 8;

// Returns the column of an edge, by its number in the block.
__device__ __forceinline__ vertex_t framed_column(const u32* block, i32 edge) {
    const u32* const frame = block + edge / GROUP_EDGES * FRAME_WORDS;
    const u32 place = frame[COLUMN_WORDS];
    const i32 width = static_cast<i32>(place & ((1u << WIDTH_BITS) - 1));
    const column_t entry = entry_at(block + (place >> WIDTH_BITS), edge % GROUP_EDGES * width, width);
    return static_cast<vertex_t>(read_column(frame) + entry);
}
