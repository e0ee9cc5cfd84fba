// Warps run in random order, and so do the lanes of each, so that a kernel whose answer depends on the order
// shows it.  If no thread can go on, the launch fails: it would hang on a GPU.
#include "block.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

namespace emulated {
namespace {
constexpr unsigned INTERRUPTION = 8;  // one step of a warp in so many is interrupted by others
constexpr unsigned STEPS_ASIDE = 4;   // one chance in so many lets others go first
constexpr size_t MANY_MASKS = 64;
}  // namespace

const Position* here = nullptr;

Block::Block() : shared_(new (std::align_val_t(128)) unsigned char[SHARED_BYTES]) {}

void Block::start(Launch& launch, unsigned number) {
    launch_ = &launch;
    const Index& grid = launch.grid;
    const Index block{number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    n_ = launch.block.x * launch.block.y * launch.block.z;
    while (threads_.size() < n_) {
        threads_.push_back(std::make_unique<Thread>(static_cast<unsigned>(threads_.size()), this));
    }
    for (unsigned i = 0; i < n_; ++i) {
        const Index thread{i % launch.block.x, i / launch.block.x % launch.block.y,
                           i / launch.block.x / launch.block.y};
        threads_[i]->position = {thread, block, launch.block, launch.grid, i % WARP};
    }
    states_.assign(n_, READY);
    std::memset(shared_.get(), POISON, launch.shared_bytes);
    warps_.resize((n_ + WARP - 1) / WARP);
    std::iota(warps_.begin(), warps_.end(), 0);
    if (meetings_.size() < warps_.size()) meetings_.resize(warps_.size());
    for (auto& meetings : meetings_) {
        if (meetings.size() > MANY_MASKS) meetings.clear();
    }
    random_.state = launch.seed + static_cast<uint64_t>(number) * 7919;
    spinning_ = several_lines_ = false;
    line_ = 0;
}

Turn Block::take_turn() {
    for (;;) {
        bool interrupted = false;
        std::shuffle(warps_.begin(), warps_.end(), random_);
        for (unsigned warp : warps_) interrupted |= !run_warp(warp);
        const unsigned found = states();
        if (interrupted && !launch_->failed) return Turn::GOES_ON;
        if (launch_->failed || found == ENDED) break;
        if (found & SPINNING) {
            if (!launch_->together) {
                launch_->fail("a block waits for another one in vain");
                break;
            }
            release(SPINNING);
            const bool again = spinning_;
            spinning_ = true;
            return again ? Turn::WAITS : Turn::GOES_ON;
        }
        spinning_ = false;
        if (found & ~(AT_BARRIER | ENDED)) {
            launch_->fail("threads wait for each other: " + waiting());
            break;
        }
        if (several_lines_) {
            launch_->fail("threads of a block wait at different barriers");
            break;
        }
        release(AT_BARRIER);
        line_ = 0;
    }
    end();
    return Turn::ENDED;
}

void Block::run_thread(void* block) {
    Block* const self = static_cast<Block*>(block);
    for (;;) {  // the next launch goes on here
        self->launch_->kernel(self->launch_->arguments);
        self->wait(ENDED);
    }
}

// Goes on with the next thread that takes a step now.
void Block::wait(State state) {
    Thread& own = *current_;
    states_[own.number] = state;
    own.fiber.switch_to(launch_->failed || next_ == last_ ? outside_ : next());
}

Fiber& Block::next() {
    current_ = threads_[*next_++].get();
    here = &current_->position;
    return current_->fiber;
}

void Block::wait_for_block(int line) {
    several_lines_ |= line_ && line_ != line;
    line_ = line;
    wait(AT_BARRIER);
}

void Block::wait_for_others() {
    wait(SPINNING);
}

void Block::step_aside() {
    if (random_() % STEPS_ASIDE == 0) wait(READY);
}

unsigned Block::lanes_at(const void* address) {
    Thread& own = *current_;
    own.address = address;
    wait(AT_LANES);
    return own.lanes;
}

void Block::refuse(const std::string& reason) {
    launch_->fail(reason);
    for (;;) wait(ENDED);  // `end` makes sure that nobody comes back
}

const Given& Block::exchange(Operation operation, unsigned mask, uint64_t value) {
    const unsigned warp = current_->number / WARP, lane = current_->number % WARP, own = 1u << lane;
    if (!(mask & own)) refuse("lane " + std::to_string(lane) + " is not in the mask of its warp operation");
    Meeting& meeting = meetings_[warp][mask];
    Given& given = meeting.given[meeting.times % 2];
    if (!meeting.arrived) {
        meeting.operation = operation;
        given.nonzero = 0;
    } else if (meeting.operation != operation) {
        refuse("lanes of a mask are at different operations");
    }
    given.values[lane] = value;
    given.nonzero |= value ? own : 0;
    meeting.arrived |= own;
    if (meeting.arrived != mask) {
        wait(AT_EXCHANGE);
        return given;
    }
    meeting.arrived = 0;
    ++meeting.times;
    for (State* state = &states_[warp * WARP]; mask; ++state, mask >>= 1) {
        if (mask & 1) *state = READY;
    }
    return given;
}

// Runs the lanes of a warp until each waits for another warp or has ended.  Sometimes other warps run while
// only some lanes have taken a step, as lanes need not load a word at once; returns false then.
bool Block::run_warp(unsigned warp) {
    const unsigned begin = warp * WARP, end = std::min(begin + WARP, n_);
    while (!launch_->failed) {
        unsigned* after = order_;
        for (unsigned i = begin; i < end; ++i) {
            if (states_[i] == READY) *after++ = i;
        }
        if (after == order_) {
            if (!answer_lanes(begin, end)) return true;
            continue;
        }
        std::shuffle(order_, after, random_);
        const unsigned most = random_() % INTERRUPTION ? WARP : 1 + random_() % WARP;
        next_ = order_;
        last_ = std::min(after, order_ + most);
        outside_.switch_to(next());
        if (last_ != after) return false;
    }
    return true;
}

// Tells lanes that asked at one address of the code that they are together there.
bool Block::answer_lanes(unsigned begin, unsigned end) {
    unsigned lanes = 0;
    const void* address = nullptr;
    for (unsigned i = begin; i < end; ++i) {
        if (states_[i] != AT_LANES || (lanes && threads_[i]->address != address)) continue;
        address = threads_[i]->address;
        lanes |= 1u << (i - begin);
    }
    if (!lanes) return false;
    // A GPU may run some of them later: sometimes leave out about half.
    const unsigned some = lanes & random_();
    if (some && random_() % 4 == 0) lanes = some;
    for (unsigned i = begin; i < end; ++i) {
        if (!(lanes >> (i - begin) & 1)) continue;
        threads_[i]->lanes = lanes;
        states_[i] = READY;
    }
    return true;
}

// Returns the states in which threads are.
unsigned Block::states() const {
    unsigned char found = 0;
    for (const State state : states_) found |= state;
    return found;
}

void Block::release(State state) {
    std::replace(states_.begin(), states_.end(), state, READY);
}

std::string Block::waiting() const {
    const auto count = [&](State state) {
        return std::to_string(std::count(states_.begin(), states_.end(), state));
    };
    return count(AT_BARRIER) + " at a barrier of the block, " + count(AT_EXCHANGE) +
           " at an operation of the warp, " + count(ENDED) + " ended";
}

// After a failure threads are left within the kernel, and start anew next time.
void Block::end() {
    if (!launch_->failed) return;
    for (auto& thread : threads_) thread->fiber.forget();
    meetings_.clear();
}

}  // namespace emulated
