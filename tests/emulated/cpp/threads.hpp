// CUDA's threads on a CPU: the built-in variables, barriers and warp operations that the kernels use.
//
// Each CUDA thread is a fiber.  It runs until it waits for others: at a barrier of the block, or at an
// operation of its warp; before an atomic compare-and-swap, and after a load from L2, it may let others go
// first, as they may change what was read.  The blocks of a cooperative launch, which may wait for each
// other, take turns; those of others run one after another.  So do the blocks of all launches of a search by
// several ranks.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emulated {

constexpr unsigned WARP = 32;

struct Index {
    unsigned x = 1, y = 1, z = 1;
};

struct Position {
    Index thread, block, block_size, grid_size;
    unsigned lane = 0;
};
extern const Position* here;  // of the thread that runs

using Kernel = void (*)(void** arguments);

// Operations for which lanes of a warp meet; all lanes of a mask must be at the same one.
enum class Operation { SHUFFLE, BALLOT, MATCH, BARRIER };

// What the lanes of a mask have given.
struct Given {
    uint64_t values[WARP];
    unsigned nonzero;  // the lanes whose value is not 0
};

unsigned char* dynamic_shared();
unsigned long long nanoseconds();

// Waits until every thread of the block that has not ended is at a barrier, which must be that of this line.
void wait_for_block(int line);
// Lets other blocks run, in a loop that waits for one of them.
void wait_for_others();
// Sometimes lets other threads of the block run.
void step_aside();
// Returns some lanes of the warp that are at this address of the code together.
unsigned lanes_at(const void* address);
// Waits until all lanes of the mask have given a value; the result lasts until the lane waits again.
const Given& exchange(Operation operation, unsigned mask, uint64_t value);
// Ends the launch with an error.
[[noreturn]] void refuse(const char* reason);

}  // namespace emulated

namespace emulated {
// A launch of a kernel over a grid.
struct Call {
    Kernel kernel;
    Index grid, block;
    size_t shared_bytes;
    void** arguments;
    unsigned seed;
};
}  // namespace emulated

extern "C" {
// Runs kernels, cooperative ones at the same time; returns 0, or 1 if one failed for the reason in
// emulated_error().  With `elsewhere` the kernels may wait for those of other processes.
int emulated_launch(const emulated::Call* calls, unsigned n_calls, int cooperative, int elsewhere);
const char* emulated_error();
}
