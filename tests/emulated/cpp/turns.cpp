#include "turns.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace emulated {
namespace {
constexpr unsigned SELDOM = 16;           // one choice in so many may be a block that waits
constexpr unsigned MOST_IN_VAIN = 10000;  // turns in which no block has found anything new
constexpr unsigned SOME_IN_VAIN = 100;    // after which another process should run
constexpr unsigned NAP = 50;              // microseconds
}  // namespace

Turns::Turns(unsigned n, unsigned seed, bool elsewhere)
    : left_(n), waits_(n), random_(seed), elsewhere_(elsewhere) {
    std::iota(left_.begin(), left_.end(), 0);
    choose();
}

void Turns::begin(unsigned block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == block; });
}

bool Turns::pass(unsigned block, bool waits) {
    std::unique_lock lock(mutex_);
    waits_[block] = waits;
    n_in_vain_ = waits ? n_in_vain_ + 1 : 0;
    if (elsewhere_ && n_in_vain_ > SOME_IN_VAIN) usleep(NAP);
    choose();
    if (running_ != block) {
        changed_.notify_all();
        changed_.wait(lock, [&] { return running_ == block; });
    }
    return elsewhere_ || n_in_vain_ < MOST_IN_VAIN;
}

void Turns::end(unsigned block) {
    const std::lock_guard lock(mutex_);
    n_in_vain_ = 0;
    left_.erase(std::find(left_.begin(), left_.end(), block));
    if (left_.empty()) return;
    choose();
    changed_.notify_all();
}

void Turns::choose() {
    std::vector<unsigned> some;
    for (unsigned block : left_) {
        if (!waits_[block]) some.push_back(block);
    }
    const auto& from = some.empty() || random_() % SELDOM == 0 ? left_ : some;
    running_ = from[random_() % from.size()];
}

}  // namespace emulated
