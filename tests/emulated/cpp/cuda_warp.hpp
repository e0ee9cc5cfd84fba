// Operations and barriers of warps and blocks.
#pragma once
#include <cstring>

#include "threads.hpp"

namespace emulated {
template <class T>
uint64_t word_of(T value) {
    static_assert(sizeof(T) <= 8);
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}

template <class T>
T from_word(uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

// Returns the value of another lane; the own one if the warp has no such lane.
template <class T>
T shuffled(unsigned mask, T value, int lane) {
    const Given& all = exchange(Operation::SHUFFLE, mask, word_of(value));
    if (lane < 0 || lane >= static_cast<int>(WARP)) return value;
    if (!(mask >> lane & 1)) refuse("a shuffle reads from a lane outside its mask");
    return from_word<T>(all.values[lane]);
}
}  // namespace emulated

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
    return emulated::shuffled(mask, value, lane & 31);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int other) {
    return emulated::shuffled(mask, value, static_cast<int>(emulated::here->lane) ^ other);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned step) {
    return emulated::shuffled(mask, value, static_cast<int>(emulated::here->lane) - static_cast<int>(step));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned step) {
    return emulated::shuffled(mask, value, static_cast<int>(emulated::here->lane) + static_cast<int>(step));
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return emulated::exchange(emulated::Operation::BALLOT, mask, predicate != 0).nonzero;
}
inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) == mask;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
    const uint64_t own = emulated::word_of(value);
    const emulated::Given& all = emulated::exchange(emulated::Operation::MATCH, mask, own);
    unsigned found = 0;
    for (unsigned lane = 0; lane < emulated::WARP; ++lane) {
        if (mask >> lane & 1 && all.values[lane] == own) found |= 1u << lane;
    }
    return found;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
    emulated::exchange(emulated::Operation::BARRIER, mask, 0);
}
#define __syncthreads() emulated::wait_for_block(__LINE__)

// Lanes are together at a call of this function as the compiler leaves it: two branches that inline one
// helper have a call each, so that, as on a GPU, lanes of different branches are apart.
__attribute__((noinline, noclone)) inline unsigned __activemask() {
    return emulated::lanes_at(__builtin_return_address(0));
}
