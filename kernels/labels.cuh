// The caller's ids, integers of 32 or 64 bits.
//
// In ascending order, the caller's id number `place` is labels[place], or first + place if `labels` is null.
// The internal id v stands for names[v] if `names` is given; otherwise for the caller's id number order[v],
// or number v if `order` is null.
#pragma once
#include "common.cuh"

#ifndef LABEL_BITS
#define LABEL_BITS 64
#endif
#if LABEL_BITS == 32
using label_t = i32;
#else
using label_t = i64;
#endif

__device__ __forceinline__ label_t label_of(const label_t* labels, i64 first, i64 place) {
    return labels != nullptr ? labels[place] : static_cast<label_t>(first + place);
}

__device__ __forceinline__ label_t name_of(const label_t* names, const vertex_t* order, const label_t* labels,
                                           i64 first, vertex_t v) {
    if (names != nullptr) return names[v];
    return label_of(labels, first, order != nullptr ? order[v] : v);
}
