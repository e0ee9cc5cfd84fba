// Entry points through which the host calls a kernel.
#pragma once
#include <cstring>
#include <type_traits>
#include <utility>

namespace emulated {
template <class... A, size_t... I>
void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_cv_t<std::remove_reference_t<A>>*>(arguments[I])...);
}
template <class... A>
void call(void (*kernel)(A...), void** arguments) {
    call(kernel, arguments, std::index_sequence_for<A...>());
}
template <class... A>
int sizes(void (*)(A...), int* sizes) {
    const int all[] = {static_cast<int>(sizeof(A))..., 0};
    std::memcpy(sizes, all, sizeof...(A) * sizeof(int));
    return sizeof...(A);
}
}  // namespace emulated

// Put after a kernel: lets the host find it, and the bytes of its arguments.
#define EMULATED_KERNEL(name)                                \
    extern "C" void emulated_call_##name(void** arguments) { \
        emulated::call(name, arguments);                     \
    }                                                        \
    extern "C" int emulated_sizes_##name(int* sizes) {       \
        return emulated::sizes(name, sizes);                 \
    }
