// Packs columns into fewer bits, and unpacks pages; each block of 1024 edges has a warp.
//
// A column is stored as its difference from the column before it; rapids_trav/csr/packed.py describes the
// format.  A warp goes over the 32 groups of a block; within a group each lane has an edge, and sums over the
// edges before are scans of the warp.
//
// Invariants: `heads` has a bit for each edge, set for the first edge of each row, and is 0 before mark_rows;
// a block's words are read and written by one warp.
//
// Reference: D. Lemire and L. Boytsov, Decoding billions of integers per second through vectorization, 2015.
//
// Must agree with: pack_columns and unpack_columns in tests/kernel_references.py.
#include "packed.cuh"

constexpr i32 WIDTH_WORDS = GROUPS / 4;
constexpr i32 HEADER = WIDTH_WORDS + 2 * COLUMN_WORDS;
constexpr u32 WIDTH_MASK = 0x7f;
constexpr i32 HEADS_SHIFT = 7;

// The columns before a group: of the edge before it, and of the last head.
struct Before {
    column_t column;
    column_t head;
};

__device__ __forceinline__ i32 last_bit(u32 bits) {
    return WARP - 1 - __clz(static_cast<i32>(bits));
}

__device__ __forceinline__ column_t folded(column_t difference) {
    return difference << 1 ^ (0 - (difference >> (VERTEX_BITS - 1)));
}

__device__ __forceinline__ column_t unfolded(column_t entry) {
    return entry >> 1 ^ (0 - (entry & 1));
}

// Returns the sum of the lanes up to this one.
__device__ __forceinline__ column_t scanned(column_t value) {
    for (i32 step = 1; step < WARP; step *= 2) {
        const column_t other = __shfl_up_sync(FULL_WARP, value, static_cast<u32>(step));
        if (lane_id() >= step) value += other;
    }
    return value;
}

// Returns the entry of each lane's column, and moves on to the columns before the next group.
__device__ __forceinline__ column_t entry_of(column_t column, u32 heads, Before& before) {
    column_t previous = __shfl_up_sync(FULL_WARP, column, 1u);
    if (lane_id() == 0) previous = before.column;
    const u32 below = heads & lanes_below();
    column_t head = __shfl_sync(FULL_WARP, column, below == 0 ? 0 : last_bit(below));
    if (below == 0) head = before.head;
    before.column = __shfl_sync(FULL_WARP, column, WARP - 1);
    const column_t last = __shfl_sync(FULL_WARP, column, heads == 0 ? 0 : last_bit(heads));
    if (heads != 0) before.head = last;
    return heads >> lane_id() & 1 ? folded(column - head) : column - previous;
}

// Returns the columns of the first edge and of the first head of a block; `own` are the heads of group lane.
__device__ __forceinline__ Before first_of(const vertex_t* columns, i64 block, u32 own) {
    const u32 with_heads = __ballot_sync(FULL_WARP, own != 0);
    Before before = {static_cast<column_t>(columns[block * BLOCK_EDGES]), 0};
    if (with_heads != 0) {
        const i32 group = __ffs(static_cast<i32>(with_heads)) - 1;
        const u32 heads = __shfl_sync(FULL_WARP, own, group);
        const i64 edge = block * BLOCK_EDGES + group * GROUP_EDGES + __ffs(static_cast<i32>(heads)) - 1;
        before.head = static_cast<column_t>(columns[edge]);
    }
    return before;
}

__device__ __forceinline__ u32 heads_of(const u32* heads, i64 block, i64 n_edges) {
    const i64 group = block * GROUPS + lane_id();
    return group * GROUP_EDGES < n_edges ? heads[group] : 0;
}

// Sets the bits of the rows that begin at the edges from `first` up to `after`.
extern "C" __global__ void mark_rows(const i64* __restrict__ row_offsets, i64 n_rows, i64 first, i64 after,
                                     u32* heads) {
    for (i64 row = global_thread(); row < n_rows; row += global_threads()) {
        const i64 begin = row_offsets[row] - first;
        if (begin < 0 || begin >= after - first) continue;
        atomicOr(&heads[begin / GROUP_EDGES], 1u << begin % GROUP_EDGES);
    }
}

// Writes the number of words of each block.
extern "C" __global__ void measure_blocks(const vertex_t* __restrict__ columns, i64 n_edges,
                                          const u32* __restrict__ heads, i64 n_blocks, i64* sizes) {
    for (i64 block = global_thread() / WARP; block < n_blocks; block += global_threads() / WARP) {
        const u32 own = heads_of(heads, block, n_edges);
        Before before = first_of(columns, block, own);
        i64 size = HEADER;
        for (i32 group = 0; group < GROUPS; ++group) {
            const u32 mask = __shfl_sync(FULL_WARP, own, group);
            const i64 edge = block * BLOCK_EDGES + group * GROUP_EDGES + lane_id();
            size += bits_of_all(entry_of(column_of(columns, edge, n_edges), mask, before)) + (mask != 0);
        }
        if (lane_id() == 0) sizes[block] = size;
    }
}

// Writes the words of each block, from words[starts[block] - starts[0]] on.
extern "C" __global__ void pack_blocks(const vertex_t* __restrict__ columns, i64 n_edges,
                                       const u32* __restrict__ heads, i64 n_blocks,
                                       const i64* __restrict__ starts, u32* words) {
    __shared__ u32 of_warps[MOST_WARPS][VERTEX_BITS + 2];
    u32* packed = of_warps[threadIdx.x / WARP];
    for (i64 block = global_thread() / WARP; block < n_blocks; block += global_threads() / WARP) {
        u32* out = words + (starts[block] - starts[0]);
        const u32 own = heads_of(heads, block, n_edges);
        Before before = first_of(columns, block, own);
        if (lane_id() < COLUMN_WORDS) {
            out[WIDTH_WORDS + lane_id()] = low_word(before.column, lane_id());
            out[WIDTH_WORDS + COLUMN_WORDS + lane_id()] = low_word(before.head, lane_id());
        }
        u32 own_width = 0;
        u32* next = out + HEADER;
        for (i32 group = 0; group < GROUPS; ++group) {
            const u32 mask = __shfl_sync(FULL_WARP, own, group);
            const i64 edge = block * BLOCK_EDGES + group * GROUP_EDGES + lane_id();
            const column_t entry = entry_of(column_of(columns, edge, n_edges), mask, before);
            const i32 width = bits_of_all(entry);
            if (lane_id() == group) own_width = static_cast<u32>(width) | (mask != 0 ? 1u << HEADS_SHIFT : 0);
            if (mask != 0) {
                if (lane_id() == 0) *next = mask;
                ++next;
            }
            write_entries(entry, width, packed, next);
            next += width;
        }
        u32 widths = own_width << 8 * (lane_id() % 4);
        widths |= __shfl_xor_sync(FULL_WARP, widths, 1);
        widths |= __shfl_xor_sync(FULL_WARP, widths, 2);
        if (lane_id() % 4 == 0) out[lane_id() / 4] = widths;
    }
}

// A group as it is stored: its heads, and this lane's entry.
struct Group {
    u32 heads;
    column_t entry;
};

// Reads a group; lane g has the bits that describe group g, and the word at which it begins.
__device__ __forceinline__ Group read_group(const u32* words, i32 group, u32 own_width, i32 own_begin) {
    const u32 both = __shfl_sync(FULL_WARP, own_width, group);
    const u32* in = words + __shfl_sync(FULL_WARP, own_begin, group);
    const i32 has_heads = static_cast<i32>(both >> HEADS_SHIFT);
    const i32 width = static_cast<i32>(both & WIDTH_MASK);
    return {has_heads != 0 ? *in : 0, entry_at(in + has_heads, lane_id() * width, width)};
}

// Writes columns[edge] for the edges from `first` up to `after`, which lie in the blocks from `first_block`
// on; these begin at starts[0], and their words at words[0].
extern "C" __global__ void unpack_blocks(const i64* __restrict__ starts, const u32* __restrict__ words,
                                         i64 n_blocks, i64 first_block, i64 first, i64 after,
                                         vertex_t* columns) {
    for (i64 block = global_thread() / WARP; block < n_blocks; block += global_threads() / WARP) {
        const u32* in = words + (starts[block] - starts[0]);
        const u32 own_width = in[lane_id() / 4] >> 8 * (lane_id() % 4) & 0xff;
        Before before = {read_column(in + WIDTH_WORDS), read_column(in + WIDTH_WORDS + COLUMN_WORDS)};
        i64 edge = (first_block + block) * BLOCK_EDGES + lane_id();
        const u32 own_words = (own_width & WIDTH_MASK) + (own_width >> HEADS_SHIFT);
        const i32 own_begin = HEADER + static_cast<i32>(scanned(own_words) - own_words);
        Group next = read_group(in, 0, own_width, own_begin);
        for (i32 group = 0; group < GROUPS; ++group, edge += GROUP_EDGES) {
            const u32 heads = next.heads;
            const column_t entry = next.entry;
            // The sums of this group do not wait for memory: the next one is on its way.
            if (group + 1 < GROUPS) next = read_group(in, group + 1, own_width, own_begin);
            column_t column;
            if (heads == 0) {
                column = before.column + scanned(entry);
            } else {
                const bool is_head = heads >> lane_id() & 1;
                const column_t head = before.head + scanned(is_head ? unfolded(entry) : 0);
                const column_t sum = scanned(is_head ? 0 : entry);
                const u32 up_to = heads & (lanes_below() | 1u << lane_id());
                const column_t of_head = __shfl_sync(FULL_WARP, sum, up_to == 0 ? 0 : last_bit(up_to));
                column = up_to == 0 ? before.column + sum : head + (sum - of_head);
                before.head = __shfl_sync(FULL_WARP, head, WARP - 1);
            }
            before.column = __shfl_sync(FULL_WARP, column, WARP - 1);
            if (first <= edge && edge < after) columns[edge] = static_cast<vertex_t>(column);
        }
    }
}
