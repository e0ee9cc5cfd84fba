// Shared memory that a kernel declares, which is thread-local memory here: one copy that blocks use in turn.
#pragma once
#include <cstddef>

namespace emulated {

constexpr int POISON = 0xa5;  // the byte of which uninitialised memory consists

struct Bytes {
    unsigned char* begin = nullptr;
    size_t n = 0;
};

// Returns what the library of a kernel declares `__shared__`, of the calling thread of the system.
Bytes static_shared(void* kernel);

}  // namespace emulated
