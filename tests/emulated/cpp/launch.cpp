// Launches of a kernel over a grid of blocks.
#include <time.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "block.hpp"
#include "threads.hpp"
#include "turns.hpp"

namespace emulated {
namespace {

thread_local std::string last_error;
thread_local Block* running = nullptr;

// Blocks that have run, whose stacks are used again.
class Idle {
  public:
    std::unique_ptr<Block> take() {
        const std::lock_guard lock(mutex_);
        if (blocks_.empty()) return std::make_unique<Block>();
        auto block = std::move(blocks_.back());
        blocks_.pop_back();
        return block;
    }
    void give(std::unique_ptr<Block> block) {
        const std::lock_guard lock(mutex_);
        blocks_.push_back(std::move(block));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Block>> blocks_;
};

void run_block(Launch& launch, unsigned number) {
    static Idle idle;
    std::unique_ptr<Block> block = idle.take();
    running = block.get();
    block->run(launch, number);
    idle.give(std::move(block));
}

// A system thread for each block, as static shared memory is thread-local.  The blocks of all launches take
// turns, so that a seed always gives the same order.
void run_together(std::vector<Launch>& launches, bool elsewhere) {
    unsigned n = 0;
    for (Launch& launch : launches) {
        launch.first_turn = n;
        n += launch.n_blocks();
    }
    Turns turns(n, launches[0].seed, elsewhere);
    std::vector<std::thread> threads;
    for (Launch& launch : launches) {
        launch.turns = &turns;
        for (unsigned i = 0; i < launch.n_blocks(); ++i) {
            threads.emplace_back([&turns, &launch, i] {
                turns.begin(launch.first_turn + i);
                run_block(launch, i);
                turns.end(launch.first_turn + i);
            });
        }
    }
    for (auto& thread : threads) thread.join();
}

void run_in_turn(Launch& launch) {
    std::vector<unsigned> order(launch.n_blocks());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(launch.seed));
    for (unsigned i : order) {
        run_block(launch, i);
        if (launch.failed) return;
    }
}

}  // namespace

const Position& position() {
    return running->position();
}
unsigned own_lane() {
    return running->lane();
}
unsigned char* dynamic_shared() {
    return running->shared();
}
void wait_for_block(int line) {
    running->wait_for_block(line);
}
void step_aside() {
    running->step_aside();
}
void wait_for_others() {
    running->wait_for_others();
}
unsigned lanes_at(const void* address) {
    return running->lanes_at(address);
}
void exchange(Operation operation, unsigned mask, uint64_t value, uint64_t* all) {
    running->exchange(operation, mask, value, all);
}
void refuse(const char* reason) {
    running->refuse(reason);
}

unsigned long long nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

}  // namespace emulated

const char* emulated_error() {
    return emulated::last_error.c_str();
}

int emulated_launch(const emulated::Call* calls, unsigned n_calls, int cooperative, int elsewhere) {
    using namespace emulated;
    std::vector<Launch> launches;
    for (const Call* call = calls; call < calls + n_calls; ++call) {
        if (call->shared_bytes > SHARED_BYTES) {
            last_error = "more dynamic shared memory than a block may have";
            return 1;
        }
        launches.push_back(
            {call->kernel, call->grid, call->block, call->shared_bytes, call->arguments, call->seed});
    }
    if (cooperative) {
        run_together(launches, elsewhere);
    } else {
        for (Launch& launch : launches) run_in_turn(launch);
    }
    for (const Launch& launch : launches) {
        if (!launch.failed) continue;
        last_error = launch.error;
        return 1;
    }
    return 0;
}
