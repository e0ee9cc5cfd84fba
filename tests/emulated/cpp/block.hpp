// A block of CUDA threads, which take turns on one thread of the system.
#pragma once
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "threads.hpp"
#include "turns.hpp"

namespace emulated {

constexpr size_t SHARED_BYTES = 256 << 10;  // dynamic shared memory that a block may ask for

// What the blocks of a launch have in common.
struct Launch {
    Kernel kernel;
    Index grid, block;
    size_t shared_bytes;
    void** arguments;
    unsigned seed;
    Turns* turns = nullptr;   // of the blocks of cooperative launches that run together
    unsigned first_turn = 0;  // of this launch's blocks among them
    bool failed = false;
    std::string error{};

    unsigned n_blocks() const { return grid.x * grid.y * grid.z; }

    // Keeps the first error.
    void fail(const std::string& reason) {
        if (!failed) error = reason;
        failed = true;
    }
};

class Block {
  public:
    Block();

    // Runs all threads of a block to their end, or until the launch fails.
    void run(Launch& launch, unsigned number);

    const Position& position() const { return current_->position; }
    unsigned lane() const { return current_->number % WARP; }
    unsigned char* shared() { return shared_.get(); }

    void wait_for_block(int line);
    void wait_for_others();
    void step_aside();
    unsigned lanes_at(const void* address);
    void exchange(Operation operation, unsigned mask, uint64_t value, uint64_t* all);
    [[noreturn]] void refuse(const std::string& reason);

  private:
    enum class State { READY, AT_BARRIER, AT_EXCHANGE, AT_LANES, SPINNING, ENDED };

    struct Thread {
        unsigned number;
        Position position{};
        State state = State::ENDED;
        int line = 0;                   // of the barrier at which it waits
        const void* address = nullptr;  // at which it asks for the lanes of its warp
        unsigned lanes = 0;             // the answer to that
        uint64_t* all = nullptr;        // where it wants the values of an exchange
        Fiber fiber{};
    };

    // The lanes of a mask that exchange values.
    struct Meeting {
        Operation operation;
        unsigned arrived = 0;
        uint64_t values[WARP];
    };

    struct Free {
        void operator()(unsigned char* memory) const { ::operator delete[](memory, std::align_val_t(128)); }
    };

    static void run_thread(void* block);
    void start(Launch& launch, unsigned number);
    bool step();
    bool step_spinning();
    void wait(State state);
    bool run_warp(unsigned warp);
    bool answer_lanes(unsigned begin, unsigned end);
    bool any_is(State state) const;
    bool all_are_ended_or(State state) const;
    bool all_at_one_barrier() const;
    void release(State state);
    bool let_others_run(bool waits);
    std::string waiting() const;
    void end();

    Launch* launch_ = nullptr;
    unsigned number_ = 0;  // of the block in its grid
    unsigned n_ = 0;       // threads
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<unsigned> warps_;                        // in the order in which they run next
    std::vector<std::map<unsigned, Meeting>> meetings_;  // of each warp, by mask
    Thread* current_ = nullptr;
    std::mt19937 random_;
    std::unique_ptr<unsigned char[], Free> shared_;
    bool spinning_ = false;  // since its last turn
};

}  // namespace emulated
