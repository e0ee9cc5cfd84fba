// Finds the distinct numbers in a list, and the position of each, without sorting: by a bitmap with a bit for
// each number of a range.
//
// 1. mark_numbers: sets the bit of each number.
// 2. count_marked: counts the set bits of each word.  The host turns the counts into running sums, `scanned`:
//    entry i has the count of all words up to and including word i.
// 3. list_marked: writes the numbers whose bits are set, in ascending order.
// 4. find_marked: writes the position of each number among these.
//
// Invariant: a bit is set if and only if its number is among those given.  Numbers below 0 have no bit; their
// position is -1.
//
// Reference: J. Bentley, Programming Pearls, Communications of the ACM 26(8), 1983 (sorting by a bitmap);
// G. Jacobson, Space-efficient Static Trees and Graphs, FOCS 1989 (positions by counting the bits before).
//
// Must agree with: by_table in rapids_trav/engines/multigpu/lookup.py.
#include "common.cuh"

extern "C" __global__ void mark_numbers(const vertex_t* __restrict__ numbers, i64 n_numbers, u32* bitmap) {
    for (i64 i = global_thread(); i < n_numbers; i += global_threads()) {
        const vertex_t number = numbers[i];
        if (number < 0) continue;
        const u32 bit = 1u << (number & 31);
        u32* const word = bitmap + (number >> 5);
        if (!(*static_cast<volatile u32*>(word) & bit)) atomicOr(word, bit);
    }
}

extern "C" __global__ void count_marked(const u32* __restrict__ bitmap, i64 n_words, vertex_t* counts) {
    for (i64 i = global_thread(); i < n_words; i += global_threads()) counts[i] = __popc(bitmap[i]);
}

// Returns how many bits are set before this bit, in all words.
__device__ __forceinline__ vertex_t marked_before(const u32* bitmap, const vertex_t* scanned, i64 word,
                                                  u32 bit) {
    const vertex_t before = word == 0 ? 0 : scanned[word - 1];
    return before + __popc(bitmap[word] & (bit - 1));
}

extern "C" __global__ void list_marked(const u32* __restrict__ bitmap, i64 n_words,
                                       const vertex_t* __restrict__ scanned, vertex_t* list) {
    for (i64 word = global_thread(); word < n_words; word += global_threads()) {
        u32 bits = bitmap[word];
        if (bits == 0) continue;
        vertex_t place = marked_before(bitmap, scanned, word, 1);
        for (; bits != 0; bits &= bits - 1) {
            list[place++] = static_cast<vertex_t>(32 * word + __ffs(static_cast<i32>(bits)) - 1);
        }
    }
}

extern "C" __global__ void find_marked(const vertex_t* __restrict__ numbers, i64 n_numbers,
                                       const u32* __restrict__ bitmap, const vertex_t* __restrict__ scanned,
                                       vertex_t* places) {
    for (i64 i = global_thread(); i < n_numbers; i += global_threads()) {
        const vertex_t number = numbers[i];
        places[i] = number < 0 ? -1 : marked_before(bitmap, scanned, number >> 5, 1u << (number & 31));
    }
}
