// Warps run in random order, and so do the lanes of each, so that a kernel whose answer depends on the order
// shows it.  If no thread can go on, the launch fails: it would hang on a GPU.
#include "block.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "shared_memory.hpp"

namespace emulated {
namespace {
constexpr unsigned INTERRUPTION = 8;  // one step of a warp in so many is interrupted by others
constexpr unsigned STEPS_ASIDE = 4;   // one chance in so many lets others go first
}  // namespace

Block::Block() : shared_(new (std::align_val_t(128)) unsigned char[SHARED_BYTES]) {}

void Block::run(Launch& launch, unsigned number) {
    start(launch, number);
    while (step()) {
    }
    end();
}

void Block::start(Launch& launch, unsigned number) {
    launch_ = &launch;
    number_ = number;
    const Index& grid = launch.grid;
    const Index block{number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    n_ = launch.block.x * launch.block.y * launch.block.z;
    while (threads_.size() < n_) {
        threads_.push_back(std::make_unique<Thread>());
        threads_.back()->number = static_cast<unsigned>(threads_.size()) - 1;
    }
    for (unsigned i = 0; i < n_; ++i) {
        const Index thread{i % launch.block.x, i / launch.block.x % launch.block.y,
                           i / launch.block.x / launch.block.y};
        threads_[i]->position = {thread, block, launch.block, launch.grid};
        threads_[i]->state = State::READY;
    }
    std::memset(shared_.get(), POISON, launch.shared_bytes);
    poison_static_shared(reinterpret_cast<void*>(launch.kernel));
    warps_.resize((n_ + WARP - 1) / WARP);
    std::iota(warps_.begin(), warps_.end(), 0);
    meetings_.assign(warps_.size(), {});
    random_.seed(launch.seed + number * 7919);
    spinning_ = false;
}

// Runs each warp as far as it gets; returns whether threads are left.
bool Block::step() {
    bool interrupted = false;
    std::shuffle(warps_.begin(), warps_.end(), random_);
    for (unsigned warp : warps_) interrupted |= !run_warp(warp);
    if (interrupted && !launch_->failed) {
        let_others_run(false);
        return true;
    }
    if (launch_->failed || all_are_ended_or(State::ENDED)) return false;
    if (any_is(State::SPINNING)) return step_spinning();
    spinning_ = false;
    if (!all_are_ended_or(State::AT_BARRIER)) {
        launch_->fail("threads wait for each other: " + waiting());
        return false;
    }
    if (!all_at_one_barrier()) {
        launch_->fail("threads of a block wait at different barriers");
        return false;
    }
    release(State::AT_BARRIER);
    return true;
}

bool Block::step_spinning() {
    if (!let_others_run(spinning_)) {
        launch_->fail("a block waits for another one in vain");
        return false;
    }
    spinning_ = true;
    release(State::SPINNING);
    return true;
}

bool Block::let_others_run(bool waits) {
    return launch_->turns && launch_->turns->pass(launch_->first_turn + number_, waits);
}

void Block::run_thread(void* block) {
    Block* const self = static_cast<Block*>(block);
    for (;;) {  // the next launch goes on here
        self->launch_->kernel(self->launch_->arguments);
        self->wait(State::ENDED);
    }
}

void Block::wait(State state) {
    current_->state = state;
    current_->fiber.leave();
}

void Block::wait_for_block(int line) {
    current_->line = line;
    wait(State::AT_BARRIER);
}

void Block::wait_for_others() {
    wait(State::SPINNING);
}

void Block::step_aside() {
    if (random_() % STEPS_ASIDE == 0) wait(State::READY);
}

unsigned Block::lanes_at(const void* address) {
    current_->address = address;
    wait(State::AT_LANES);
    return current_->lanes;
}

void Block::refuse(const std::string& reason) {
    launch_->fail(reason);
    for (;;) wait(State::ENDED);  // `end` makes sure that nobody comes back
}

void Block::exchange(Operation operation, unsigned mask, uint64_t value, uint64_t* all) {
    Thread& thread = *current_;
    const unsigned warp = thread.number / WARP, lane = thread.number % WARP;
    if (!(mask >> lane & 1))
        refuse("lane " + std::to_string(lane) + " is not in the mask of its warp operation");
    Meeting& meeting = meetings_[warp][mask];
    if (meeting.arrived && meeting.operation != operation)
        refuse("lanes of a mask are at different operations");
    meeting.operation = operation;
    meeting.values[lane] = value;
    meeting.arrived |= 1u << lane;
    thread.all = all;
    if (meeting.arrived != mask) {
        wait(State::AT_EXCHANGE);
    } else {
        meeting.arrived = 0;
        for (unsigned other = 0; other < WARP; ++other) {
            if (!(mask >> other & 1)) continue;
            Thread& one = *threads_[warp * WARP + other];
            std::memcpy(one.all, meeting.values, sizeof meeting.values);
            one.state = State::READY;
        }
    }
}

// Runs the lanes of a warp until each waits for another warp or has ended.  Sometimes other warps run while
// only some lanes have taken a step, as lanes need not load a word at once; returns false then.
bool Block::run_warp(unsigned warp) {
    const unsigned begin = warp * WARP, end = std::min(begin + WARP, n_);
    unsigned order[WARP];
    for (;;) {
        unsigned* after = order;
        for (unsigned i = begin; i < end; ++i) {
            if (threads_[i]->state == State::READY) *after++ = i;
        }
        if (after == order && !answer_lanes(begin, end)) return true;
        std::shuffle(order, after, random_);
        const unsigned most = random_() % INTERRUPTION ? WARP : 1 + static_cast<unsigned>(random_()) % WARP;
        for (const unsigned* i = order; i < after; ++i) {
            if (launch_->failed) return true;
            if (i == order + most) return false;
            current_ = threads_[*i].get();
            current_->fiber.enter(run_thread, this);
        }
    }
}

// Tells lanes that asked at one address of the code that they are together there.
bool Block::answer_lanes(unsigned begin, unsigned end) {
    unsigned lanes = 0;
    const void* address = nullptr;
    for (unsigned i = begin; i < end; ++i) {
        const Thread& thread = *threads_[i];
        if (thread.state != State::AT_LANES || (lanes && thread.address != address)) continue;
        address = thread.address;
        lanes |= 1u << (i - begin);
    }
    if (!lanes) return false;
    // A GPU may run some of them later: sometimes leave out about half.
    const unsigned some = lanes & static_cast<unsigned>(random_());
    if (some && random_() % 4 == 0) lanes = some;
    for (unsigned i = begin; i < end; ++i) {
        if (!(lanes >> (i - begin) & 1)) continue;
        threads_[i]->lanes = lanes;
        threads_[i]->state = State::READY;
    }
    return true;
}

bool Block::any_is(State state) const {
    return std::any_of(threads_.begin(), threads_.begin() + n_,
                       [&](const auto& thread) { return thread->state == state; });
}

bool Block::all_are_ended_or(State state) const {
    return std::all_of(threads_.begin(), threads_.begin() + n_, [&](const auto& thread) {
        return thread->state == state || thread->state == State::ENDED;
    });
}

bool Block::all_at_one_barrier() const {
    int line = 0;
    for (unsigned i = 0; i < n_; ++i) {
        if (threads_[i]->state != State::AT_BARRIER) continue;
        if (line && threads_[i]->line != line) return false;
        line = threads_[i]->line;
    }
    return true;
}

void Block::release(State state) {
    for (unsigned i = 0; i < n_; ++i) {
        if (threads_[i]->state == state) threads_[i]->state = State::READY;
    }
}

std::string Block::waiting() const {
    const auto count = [&](State state) {
        return std::to_string(std::count_if(threads_.begin(), threads_.begin() + n_,
                                            [&](const auto& thread) { return thread->state == state; }));
    };
    return count(State::AT_BARRIER) + " at a barrier of the block, " + count(State::AT_EXCHANGE) +
           " at an operation of the warp, " + count(State::ENDED) + " ended";
}

// After a failure threads are left within the kernel, and start anew next time.
void Block::end() {
    if (!launch_->failed) return;
    for (auto& thread : threads_) {
        thread->fiber.forget();
        thread->state = State::ENDED;
    }
}

}  // namespace emulated
