// The part of CUDA C++ that the kernels use, for a compiler of C++: included before the text of a kernel
// file.
#pragma once
#include <cmath>

#include "cuda_bits.hpp"
#include "cuda_memory.hpp"
#include "cuda_warp.hpp"
#include "entry.hpp"
#include "threads.hpp"

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static thread_local
#define threadIdx (emulated::here->thread)
#define blockIdx (emulated::here->block)
#define blockDim (emulated::here->block_size)
#define gridDim (emulated::here->grid_size)
