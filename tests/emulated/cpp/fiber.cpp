// makecontext() enters a stack for the first time; from then on the compiler's own setjmp and longjmp switch.
// Those make no call, of the system as swapcontext() or of the C library, and keep two registers and a place.
#include "fiber.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace emulated {
namespace {
constexpr size_t STACK_BYTES = 1 << 17;
// Stacks begin at several places of their pages, so that they share the processor's caches.
constexpr size_t STEP = 13 * 64, STEPS = 32;
size_t n_started = 0;
}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument)
    : stack_(mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0)),
      body_(body),
      argument_(argument) {
    if (stack_ == MAP_FAILED) throw std::bad_alloc();
}

Fiber::~Fiber() {
    if (stack_) munmap(stack_, STACK_BYTES);
}

// makecontext() passes integers alone, so the address comes in two halves.
void Fiber::begin(unsigned low, unsigned high) {
    Fiber* const self = reinterpret_cast<Fiber*>(static_cast<uint64_t>(high) << 32 | low);
    self->body_(self->argument_);
}

void Fiber::start() {
    started_ = true;
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = stack_;
    first.uc_stack.ss_size = STACK_BYTES - n_started++ % STEPS * STEP;
    const uint64_t self = reinterpret_cast<uint64_t>(this);
    makecontext(&first, reinterpret_cast<void (*)()>(begin), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
    setcontext(&first);
}

// Not inlined, so that all registers that a caller wants back are on its stack.
__attribute__((noinline)) void Fiber::switch_to(Fiber& other) {
    if (__builtin_setjmp(place_) != 0) return;
    if (other.stack_ && !other.started_) other.start();
    __builtin_longjmp(other.place_, 1);
}

}  // namespace emulated
