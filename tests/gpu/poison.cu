// Fills shared memory with a value, so that a kernel launched afterwards shows what it reads without having
// written it.
//
// Invariant: a block has all the shared memory that the launch asks for, and writes every word of it.

extern "C" __global__ void poison(unsigned int value, int n_words, unsigned int* n_different) {
    extern __shared__ volatile unsigned int words[];
    for (int i = threadIdx.x; i < n_words; i += blockDim.x) words[i] = value;
    __syncthreads();
    for (int i = threadIdx.x; i < n_words; i += blockDim.x) {
        if (words[n_words - 1 - i] != value) atomicAdd(n_different, 1u);
    }
}
