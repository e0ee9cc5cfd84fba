// Types of shortest paths by weight: of a weight, and of a distance, which holds sums of weights.
#pragma once
#include "scalar.cuh"

#ifndef WEIGHT
#define WEIGHT 3  // type of the weights: 1 int32, 2 int64, 3 float32, 4 float64
#endif
using weight_t = Scalar<WEIGHT>::type;
#if WEIGHT <= 2
using distance_t = i64;
#else
using distance_t = double;
#endif
