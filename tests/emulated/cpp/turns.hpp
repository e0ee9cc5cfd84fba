// Turns of the blocks of a cooperative launch: one runs at a time, and a random one follows it, mostly one
// that is not waiting for another.
#pragma once
#include <condition_variable>
#include <mutex>
#include <random>
#include <vector>

namespace emulated {

class Turns {
  public:
    // `elsewhere` says that blocks may also wait for those of other processes.
    Turns(unsigned n, unsigned seed, bool elsewhere);

    // Waits for the first turn of a block.
    void begin(unsigned block);
    // Lets some block run, perhaps the same, and waits for the next turn of this one.  `waits` says that it
    // has found nothing new since its last turn.  Returns false if all blocks have waited for too long.
    bool pass(unsigned block, bool waits);
    void end(unsigned block);

  private:
    void choose();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<unsigned> left_;
    std::vector<bool> waits_;
    std::mt19937 random_;
    const bool elsewhere_;
    unsigned running_ = 0;
    unsigned n_in_vain_ = 0;  // turns since a block has found something new
};

}  // namespace emulated
