// A block of CUDA threads, which take turns.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "shared_memory.hpp"
#include "threads.hpp"

namespace emulated {

constexpr size_t SHARED_BYTES = 256 << 10;  // dynamic shared memory that a block may ask for

// What the blocks of a launch have in common.
struct Launch {
    Kernel kernel;
    Index grid, block;
    size_t shared_bytes;
    void** arguments;
    unsigned seed;
    bool together;  // whether its blocks may wait for each other
    Bytes static_shared;
    bool failed = false;
    std::string error{};

    unsigned n_blocks() const { return grid.x * grid.y * grid.z; }

    // Keeps the first error.
    void fail(const std::string& reason) {
        if (!failed) error = reason;
        failed = true;
    }
};

// Random numbers of 32 bits, by splitmix64.
struct Random {
    using result_type = uint32_t;
    uint64_t state;

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~0u; }
    result_type operator()() {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return static_cast<result_type>(z >> 32);
    }
};

// How a turn of a block ended.
enum class Turn { GOES_ON, WAITS, ENDED };  // WAITS: it has found nothing new since its last turn

class Block {
  public:
    Block();

    void start(Launch& launch, unsigned number);
    // Runs the threads until others should run, the block ends or the launch fails.
    Turn take_turn();

    unsigned char* shared() { return shared_.get(); }

    void wait_for_block(int line);
    void wait_for_others();
    void step_aside();
    unsigned lanes_at(const void* address);
    const Given& exchange(Operation operation, unsigned mask, uint64_t value);
    [[noreturn]] void refuse(const std::string& reason);

  private:
    enum State : unsigned char {
        READY = 1,
        AT_BARRIER = 2,
        AT_EXCHANGE = 4,
        AT_LANES = 8,
        SPINNING = 16,
        ENDED = 32,
    };

    struct Thread {
        Thread(unsigned own_number, Block* block) : number(own_number), fiber(run_thread, block) {}

        unsigned number;
        Position position{};
        const void* address = nullptr;  // at which it asks for the lanes of its warp
        unsigned lanes = 0;             // the answer to that
        Fiber fiber;
    };

    // The lanes of a mask that exchange values.  A lane may give its next value before others have looked at
    // those of the last time, but not the one after that.
    struct Meeting {
        Operation operation;
        unsigned arrived = 0;
        unsigned times = 0;
        Given given[2];
    };

    struct Free {
        void operator()(unsigned char* memory) const { ::operator delete[](memory, std::align_val_t(128)); }
    };

    static void run_thread(void* block);
    void wait(State state);
    Fiber& next();
    bool run_warp(unsigned warp);
    bool answer_lanes(unsigned begin, unsigned end);
    unsigned states() const;
    void release(State state);
    std::string waiting() const;
    void end();

    Launch* launch_ = nullptr;
    unsigned n_ = 0;  // threads
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<State> states_;                          // of the threads
    std::vector<unsigned> warps_;                        // in the order in which they run next
    std::vector<std::map<unsigned, Meeting>> meetings_;  // of each warp, by mask
    Fiber outside_;
    Thread* current_ = nullptr;
    unsigned order_[WARP];  // of the threads of a warp that take a step
    const unsigned *next_ = order_, *last_ = order_;
    int line_ = 0;                // of a barrier at which threads wait
    bool several_lines_ = false;  // at which they do
    Random random_{};
    std::unique_ptr<unsigned char[], Free> shared_;
    bool spinning_ = false;  // since its last turn
};

}  // namespace emulated
