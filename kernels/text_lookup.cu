// Looks up a few strings among distinct strings in ascending order: returns the internal id of each, or NONE.
//
// Each given string has a thread, which searches by bisection.  Strings are compared by their bytes in UTF-8,
// whose order is that of their characters.  As in Arrow, string i has the bytes from offsets[i] to
// offsets[i + 1].
//
// Invariant: the strings that are searched ascend by their bytes, and no two are equal.
//
// Reference: F. Yergeau, UTF-8, a transformation format of ISO 10646, RFC 3629, 2003 (the order of bytes).
//
// Must agree with: places_of_texts in tests/kernel_references.py.
#include "common.cuh"

#ifndef OFFSET_BITS
#define OFFSET_BITS 32
#endif
#if OFFSET_BITS == 64
using offset_t = i64;
#else
using offset_t = i32;
#endif

// Returns a number below, equal to or above 0 if `one` is less than, equal to or greater than `other`.
__device__ __forceinline__ i64 compared(const u8* one, i64 one_size, const u8* other, i64 other_size) {
    const i64 common = one_size < other_size ? one_size : other_size;
    for (i64 i = 0; i < common; ++i) {
        if (one[i] != other[i]) return static_cast<i64>(one[i]) - other[i];
    }
    return one_size - other_size;
}

extern "C" __global__ void locate_texts(const u8* __restrict__ given, const i64* __restrict__ given_offsets,
                                        i64 n_given, const u8* __restrict__ bytes,
                                        const offset_t* __restrict__ offsets, i64 n,
                                        const vertex_t* __restrict__ rank, vertex_t* internal) {
    for (i64 i = global_thread(); i < n_given; i += global_threads()) {
        const u8* text = given + given_offsets[i];
        const i64 size = given_offsets[i + 1] - given_offsets[i];
        vertex_t found = NONE;
        i64 low = 0, high = n;
        while (low < high && found == NONE) {
            const i64 middle = low + (high - low) / 2;
            const i64 begin = offsets[middle];
            const i64 order = compared(text, size, bytes + begin, offsets[middle + 1] - begin);
            if (order == 0) found = rank != nullptr ? rank[middle] : static_cast<vertex_t>(middle);
            if (order < 0) high = middle;
            if (order > 0) low = middle + 1;
        }
        internal[i] = found;
    }
}
