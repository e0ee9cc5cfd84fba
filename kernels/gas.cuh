// Interface of a vertex program to the kernels: its types, its functions and its reducer.
//
// Numba compiles the functions from Python, and they are linked in so that each call is inlined
// (rapids_trav/engines/cuda/programs/link.py).  X_ARGUMENTS is the number of arguments of function x; 0 means
// that the program does not define x and that the default below is used.
//
// With min and max, NaN never replaces a number, nor a number NaN: a value that is NaN stays NaN.
#pragma once
#include "level.cuh"
#include "scalar.cuh"

#ifndef VALUE
#define VALUE 3  // type of values and messages: 1 int32, 2 int64, 3 float32, 4 float64
#endif
#ifndef WEIGHT
#define WEIGHT 0  // type of edge weights, likewise; 0: every weight is 1
#endif
#ifndef REDUCER
#define REDUCER 0  // 0 min, 1 max, 2 sum
#endif
#ifndef SCATTER_ARGUMENTS
#define SCATTER_ARGUMENTS 0
#endif
#ifndef GATHER_ARGUMENTS
#define GATHER_ARGUMENTS 0
#endif
#ifndef APPLY_ARGUMENTS
#define APPLY_ARGUMENTS 0
#endif
#ifndef ACTIVE_ARGUMENTS
#define ACTIVE_ARGUMENTS 0
#endif
#ifndef TOTAL_ARGUMENTS
#define TOTAL_ARGUMENTS 0
#endif
#ifndef STARTS
#define STARTS \
    0  // 1: a reduction starts from the value whose bits are START_HIGH, if it has 64, and START_LOW
#endif
#ifndef START_HIGH
#define START_HIGH 0
#endif
#ifndef START_LOW
#define START_LOW 0
#endif
#ifndef RESIDUAL
#define RESIDUAL 0  // 1: sum the changes of the values
#endif

using value_t = Scalar<VALUE>::type;
using weight_t = Scalar<WEIGHT == 0 ? VALUE : WEIGHT>::type;  // without weights: 1 in the type of the values
#if WEIGHT == 0
using degree_t = i64;
#else
using degree_t = double;
#endif

extern "C" {
#if SCATTER_ARGUMENTS == 1
__device__ value_t trav_scatter(value_t value);
#elif SCATTER_ARGUMENTS == 2
__device__ value_t trav_scatter(value_t value, degree_t degree);
#endif
#if GATHER_ARGUMENTS == 1
__device__ value_t trav_gather(value_t message);
#elif GATHER_ARGUMENTS == 2
__device__ value_t trav_gather(value_t message, weight_t weight);
#endif
#if APPLY_ARGUMENTS == 1
__device__ value_t trav_apply(value_t value);
#elif APPLY_ARGUMENTS == 2
__device__ value_t trav_apply(value_t value, value_t gathered);
#elif APPLY_ARGUMENTS == 3
__device__ value_t trav_apply(value_t value, value_t gathered, double total);
#elif APPLY_ARGUMENTS == 4
__device__ value_t trav_apply(value_t value, value_t gathered, double total, const double* parameters);
#endif
#if ACTIVE_ARGUMENTS == 1
__device__ i32 trav_active(value_t value);
#elif ACTIVE_ARGUMENTS == 2
__device__ i32 trav_active(value_t value, value_t next);
#endif
#if TOTAL_ARGUMENTS == 1
__device__ double trav_total(value_t value);
#elif TOTAL_ARGUMENTS == 2
__device__ double trav_total(value_t value, degree_t degree);
#endif
}

// Returns whether `value` replaces `other` in a reduction; min and max only.
__device__ __forceinline__ bool better(value_t value, value_t other) {
    return REDUCER == 0 ? value < other : value > other;
}

__device__ __forceinline__ value_t reduce(value_t one, value_t other) {
    if (REDUCER == 2) return one + other;
    return better(other, one) ? other : one;
}

// The identity of the reducer.
__device__ __forceinline__ value_t identity() {
    if (REDUCER == 2) return 0;
#if VALUE == 1
    return REDUCER == 0 ? 0x7fffffff : -0x7fffffff - 1;
#elif VALUE == 2
    return REDUCER == 0 ? 0x7fffffffffffffffll : -0x7fffffffffffffffll - 1;
#else
    const float infinity = __int_as_float(0x7f800000);
    return REDUCER == 0 ? infinity : -infinity;
#endif
}

#if STARTS
// The initial value of a vertex's reduction (docs/systems.md, G19).  It is reduced with the gathered values
// once for each vertex, however many copies and pieces the vertex had.
__device__ __forceinline__ value_t start() {
#if VALUE == 1
    return static_cast<i32>(static_cast<u32>(START_LOW));
#elif VALUE == 2
    return static_cast<i64>(static_cast<u64>(START_HIGH) << 32 | static_cast<u64>(START_LOW));
#elif VALUE == 3
    return __int_as_float(static_cast<i32>(static_cast<u32>(START_LOW)));
#else
    return __longlong_as_double(
        static_cast<i64>(static_cast<u64>(START_HIGH) << 32 | static_cast<u64>(START_LOW)));
#endif
}
#endif

// Returns whether a value or message is the identity, which is passed on unchanged, since arithmetic on it
// could overflow.
__device__ __forceinline__ bool says_nothing(value_t value) {
    return REDUCER != 2 && value == identity();
}

__device__ __forceinline__ value_t scatter(value_t value, degree_t degree) {
#if SCATTER_ARGUMENTS == 2
    return says_nothing(value) ? value : trav_scatter(value, degree);
#elif SCATTER_ARGUMENTS == 1
    return says_nothing(value) ? value : trav_scatter(value);
#else
    return value;
#endif
}

__device__ __forceinline__ value_t gather(value_t message, weight_t weight) {
#if GATHER_ARGUMENTS == 2
    return says_nothing(message) ? message : trav_gather(message, weight);
#elif GATHER_ARGUMENTS == 1
    return says_nothing(message) ? message : trav_gather(message);
#else
    return message;
#endif
}

__device__ __forceinline__ value_t apply(value_t value, value_t gathered, double total,
                                         const double* parameters) {
#if STARTS
    gathered = reduce(start(), gathered);
#endif
#if APPLY_ARGUMENTS == 4
    return trav_apply(value, gathered, total, parameters);
#elif APPLY_ARGUMENTS == 3
    return trav_apply(value, gathered, total);
#elif APPLY_ARGUMENTS == 2
    return trav_apply(value, gathered);
#elif APPLY_ARGUMENTS == 1
    return trav_apply(value);
#else
    return REDUCER == 2 ? gathered : reduce(value, gathered);
#endif
}

__device__ __forceinline__ bool is_active(value_t value, value_t next) {
#if ACTIVE_ARGUMENTS == 2
    return trav_active(value, next) != 0;
#elif ACTIVE_ARGUMENTS == 1
    return trav_active(value) != 0;
#else
    return next != value;
#endif
}

__device__ __forceinline__ double in_total(value_t value, degree_t degree) {
#if TOTAL_ARGUMENTS == 2
    return trav_total(value, degree);
#elif TOTAL_ARGUMENTS == 1
    return trav_total(value);
#else
    return 0;
#endif
}

// The weight of an edge.
__device__ __forceinline__ weight_t weight_of(const weight_t* weights, i64 edge) {
    return WEIGHT == 0 ? static_cast<weight_t>(1) : weights[edge];
}
