// Types of values and weights by number, from 1 on, as `DTYPES` in rapids_trav/programs/definition.py lists
// them.
#pragma once
#include "common.cuh"

template <i32 Kind>
struct Scalar;
template <>
struct Scalar<1> {
    using type = i32;
};
template <>
struct Scalar<2> {
    using type = i64;
};
template <>
struct Scalar<3> {
    using type = float;
};
template <>
struct Scalar<4> {
    using type = double;
};
