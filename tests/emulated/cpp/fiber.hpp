// A stack on which a function runs and can be left and entered again.
#pragma once
#include <setjmp.h>

namespace emulated {

class Fiber {
  public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Calls `body(argument)`, which does not return, or goes on where it left.
    void enter(void (*body)(void*), void* argument);
    // Goes back to the caller of `enter`.
    void leave();
    // The next `enter` calls its body anew.
    void forget() { started_ = false; }

  private:
    static void begin(unsigned low, unsigned high);

    void* stack_;
    jmp_buf inside_, outside_;
    bool started_ = false;
    void (*body_)(void*) = nullptr;
    void* argument_ = nullptr;
};

}  // namespace emulated
