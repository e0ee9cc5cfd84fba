// Launches of a kernel over a grid of blocks.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "block.hpp"
#include "threads.hpp"

namespace emulated {
namespace {

constexpr unsigned SELDOM = 16;           // one choice in so many may be a block that waits
constexpr unsigned MOST_IN_VAIN = 10000;  // turns in which no block has found anything new
constexpr unsigned SOME_IN_VAIN = 100;    // after which another process should run
constexpr unsigned NAP = 50;              // microseconds

std::mutex one_at_a_time;
std::string last_error;
Block* running = nullptr;
std::vector<std::unique_ptr<Block>> idle;  // have run; their stacks are used again

std::unique_ptr<Block> take_idle() {
    if (idle.empty()) return std::make_unique<Block>();
    auto block = std::move(idle.back());
    idle.pop_back();
    return block;
}

// A block that takes turns with others, and what it has in the static shared memory of its kernel's library
// while another one runs.
class Partner {
  public:
    Partner(Launch& launch, unsigned number)
        : launch_(&launch), block_(take_idle()), kept_(launch.static_shared.n, POISON) {
        block_->start(launch, number);
    }
    void keep_shared() { std::memcpy(kept_.data(), launch_->static_shared.begin, kept_.size()); }
    void bring_shared() { std::memcpy(launch_->static_shared.begin, kept_.data(), kept_.size()); }
    bool waits() const { return waits_; }

    Turn take_turn() {
        running = block_.get();
        const Turn turn = running->take_turn();
        waits_ = turn == Turn::WAITS;
        if (turn == Turn::ENDED) idle.push_back(std::move(block_));
        return turn;
    }

  private:
    Launch* launch_;
    std::unique_ptr<Block> block_;
    std::vector<unsigned char> kept_;
    bool waits_ = false;
};

// Returns a random one of those that are left, mostly one that is not waiting for another.
size_t choose(const std::vector<Partner>& left, Random& random) {
    const auto n_waiting = std::count_if(left.begin(), left.end(), [](auto& one) { return one.waits(); });
    const size_t n_others = left.size() - n_waiting;
    if (!n_others || random() % SELDOM == 0) return random() % left.size();
    size_t place = random() % n_others, i = 0;
    while (left[i].waits() || place--) ++i;
    return i;
}

// One block runs at a time, and a random one follows it, so that a seed always gives the same order.
// `elsewhere` says that blocks may also wait for those of other processes.
void run_together(std::vector<Launch>& launches, bool elsewhere) {
    std::vector<Partner> left;
    for (Launch& launch : launches) {
        for (unsigned i = 0; i < launch.n_blocks(); ++i) left.emplace_back(launch, i);
    }
    Random random{launches[0].seed};
    unsigned n_in_vain = 0;
    for (size_t last = left.size(); !left.empty();) {
        const size_t i = choose(left, random);
        if (i != last) {
            if (last < left.size()) left[last].keep_shared();
            left[i].bring_shared();
        }
        last = i;
        const Turn turn = left[i].take_turn();
        n_in_vain = turn == Turn::WAITS ? n_in_vain + 1 : 0;
        if (turn == Turn::ENDED) {
            std::swap(left[i], left.back());
            left.pop_back();
            last = left.size();
        }
        if (elsewhere && n_in_vain > SOME_IN_VAIN) usleep(NAP);
        if (elsewhere || n_in_vain < MOST_IN_VAIN) continue;
        for (Launch& launch : launches) launch.fail("a block waits for another one in vain");
    }
}

void run_in_turn(Launch& launch) {
    std::vector<unsigned> order(launch.n_blocks());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), Random{launch.seed});
    for (unsigned i : order) {
        Partner one(launch, i);
        one.bring_shared();
        while (one.take_turn() != Turn::ENDED) {
        }
        if (launch.failed) return;
    }
}

}  // namespace

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
const Given& exchange(Operation operation, unsigned mask, uint64_t value) {
    return running->exchange(operation, mask, value);
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
    const std::lock_guard lock(one_at_a_time);
    std::vector<Launch> launches;
    for (const Call* call = calls; call < calls + n_calls; ++call) {
        if (call->shared_bytes > SHARED_BYTES) {
            last_error = "more dynamic shared memory than a block may have";
            return 1;
        }
        launches.push_back({call->kernel, call->grid, call->block, call->shared_bytes, call->arguments,
                            call->seed, cooperative != 0,
                            static_shared(reinterpret_cast<void*>(call->kernel))});
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
