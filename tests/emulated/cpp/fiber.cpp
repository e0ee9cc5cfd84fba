// makecontext() enters a stack for the first time; from then on _setjmp() and _longjmp() switch, which,
// unlike swapcontext(), make no call of the system for the mask of signals.
#include "fiber.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace emulated {
namespace {
constexpr size_t STACK_BYTES = 1 << 17;
}

Fiber::Fiber()
    : stack_(mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0)) {
    if (stack_ == MAP_FAILED) throw std::bad_alloc();
}

Fiber::~Fiber() {
    munmap(stack_, STACK_BYTES);
}

// makecontext() passes integers alone, so the address comes in two halves.
void Fiber::begin(unsigned low, unsigned high) {
    Fiber* const self = reinterpret_cast<Fiber*>(static_cast<uint64_t>(high) << 32 | low);
    self->body_(self->argument_);
}

void Fiber::enter(void (*body)(void*), void* argument) {
    if (_setjmp(outside_) != 0) return;
    if (started_) _longjmp(inside_, 1);
    started_ = true;
    body_ = body;
    argument_ = argument;
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = stack_;
    first.uc_stack.ss_size = STACK_BYTES;
    const uint64_t self = reinterpret_cast<uint64_t>(this);
    makecontext(&first, reinterpret_cast<void (*)()>(begin), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
    setcontext(&first);
}

void Fiber::leave() {
    if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

}  // namespace emulated
