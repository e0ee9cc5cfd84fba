// Kernels with an error each, which the emulation must report, and some without.

extern "C" __global__ void add_one(int* values, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) values[i] += 1;
}

extern "C" __global__ void sum_block(const int* values, int* sum) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, values[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *sum = total;
}

extern "C" __global__ void sum_warp(const int* values, int* sum) {
    int value = values[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x == 0) *sum = value;
}

extern "C" __global__ void different_barriers() {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

extern "C" __global__ void barrier_of_a_warp_and_of_the_block() {
    if (threadIdx.x % 2) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}

extern "C" __global__ void different_operations(int* found) {
    if (threadIdx.x % 2) {
        found[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
    } else {
        found[threadIdx.x] = __any_sync(0xffffffffu, 1);
    }
}

extern "C" __global__ void own_lane_outside_mask(int* found) {
    found[threadIdx.x] = __shfl_sync(0x0000ffffu, static_cast<int>(threadIdx.x), 0);
}

extern "C" __global__ void other_lane_outside_mask(int* found) {
    if (threadIdx.x < 16) found[threadIdx.x] = __shfl_sync(0x0000ffffu, static_cast<int>(threadIdx.x), 20);
}

extern "C" __global__ void read_shared(unsigned* found) {
    __shared__ unsigned declared[4];
    extern __shared__ unsigned asked[];
    found[0] = declared[threadIdx.x];
    found[1] = asked[threadIdx.x];
    declared[threadIdx.x] = asked[threadIdx.x] = 1;
}

__device__ unsigned load_acquire(const unsigned* address) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

extern "C" __global__ void wait_for_ever(const unsigned* never) {
    if (threadIdx.x == 0) {
        while (load_acquire(never) == 0) {
        }
    }
    __syncthreads();
}

extern "C" __global__ void note_order(int* order, unsigned* size) {
    __syncwarp();
    order[atomicAdd(size, 1u)] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// The second warp writes the word that the first one waits for.
template <bool AGREE>
__device__ void end_at_a_word(unsigned* word) {
    if (threadIdx.x >= 32) {
        __syncwarp();
        if (threadIdx.x == 32) *word = 1;
        return;
    }
    for (int i = 0; i < 8; ++i) {
        const bool written = *static_cast<volatile unsigned*>(word) != 0;
        if (AGREE ? __any_sync(0xffffffffu, written) : written) return;
        __syncwarp();
    }
}

extern "C" __global__ void branch_on_a_word(unsigned* word) {
    end_at_a_word<false>(word);
}

extern "C" __global__ void agree_on_a_word(unsigned* word) {
    end_at_a_word<true>(word);
}

// Adds 1 from every thread, by a compare-and-swap that may fail, once or until it succeeds.
template <bool AGAIN>
__device__ void count_by_swaps(unsigned* total) {
    for (bool done = false; !done;) {
        const unsigned before = *static_cast<volatile unsigned*>(total);
        done = atomicCAS(total, before, before + 1) == before || !AGAIN;
    }
}

extern "C" __global__ void count_by_swaps_once(unsigned* total) {
    count_by_swaps<false>(total);
}

extern "C" __global__ void count_by_swaps_until_they_succeed(unsigned* total) {
    count_by_swaps<true>(total);
}
