// A stack on which a function runs and can be left and entered again.
#pragma once

namespace emulated {

class Fiber {
  public:
    // The stack of whoever calls `switch_to` of it.
    Fiber() = default;
    // A stack on which `body(argument)`, which does not return, begins when somebody switches to it.
    Fiber(void (*body)(void*), void* argument);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Goes on with another one, and here when somebody switches to this one.
    void switch_to(Fiber& other);
    // The next switch to it calls its body anew.
    void forget() { started_ = false; }

  private:
    static void begin(unsigned low, unsigned high);
    void start();

    void* stack_ = nullptr;
    void* place_[5];  // where it goes on
    bool started_ = false;
    void (*body_)(void*) = nullptr;
    void* argument_ = nullptr;
};

}  // namespace emulated
