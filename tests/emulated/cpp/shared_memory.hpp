// Shared memory that a kernel declares, which is thread-local memory here: one copy for each running block.
#pragma once

namespace emulated {

constexpr int POISON = 0xa5;  // the byte of which uninitialised memory consists

// Fills what the library of a kernel declares `__shared__`, on the calling thread of the system.
void poison_static_shared(void* kernel);

}  // namespace emulated
