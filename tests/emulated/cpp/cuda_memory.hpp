// Fences, loads with hints, atomic operations, and the clock.
#pragma once
#include "threads.hpp"

inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
    __threadfence();
}

inline long long clock64() {
    return static_cast<long long>(emulated::nanoseconds());
}

template <class T>
T __ldcg(const T* address) {
    T value;
    __atomic_load(address, &value, __ATOMIC_RELAXED);
    emulated::step_aside();
    return value;
}
template <class T>
T __ldcs(const T* address) {
    return *address;
}

namespace emulated {
// Replaces a value by what `change` makes of it, and returns the value before.
template <class T, class Change>
T changed(T* address, Change change) {
    T before;
    __atomic_load(address, &before, __ATOMIC_RELAXED);
    for (;;) {
        T after = change(before);
        if (__atomic_compare_exchange(address, &before, &after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            return before;
        }
    }
}
template <class T>
struct Same {
    using type = T;
};
}  // namespace emulated

template <class T>
T atomicAdd(T* address, typename emulated::Same<T>::type value) {
    return emulated::changed(address, [&](T before) { return static_cast<T>(before + value); });
}
template <class T>
T atomicAnd(T* address, typename emulated::Same<T>::type value) {
    return emulated::changed(address, [&](T before) { return before & value; });
}
template <class T>
T atomicOr(T* address, typename emulated::Same<T>::type value) {
    return emulated::changed(address, [&](T before) { return before | value; });
}
template <class T>
T atomicMin(T* address, typename emulated::Same<T>::type value) {
    return emulated::changed(address, [&](T before) { return value < before ? value : before; });
}
template <class T>
T atomicMax(T* address, typename emulated::Same<T>::type value) {
    return emulated::changed(address, [&](T before) { return value > before ? value : before; });
}
template <class T>
T atomicCAS(T* address, typename emulated::Same<T>::type expected, typename emulated::Same<T>::type value) {
    emulated::step_aside();
    return emulated::changed(address, [&](T before) { return before == expected ? value : before; });
}

// The kernels' own inline PTX, by its meaning.
namespace emulated {
template <class T>
T load_acquire(const T* address) {
    wait_for_others();
    return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
template <class T>
void add_release(T* address, T value) {
    __atomic_fetch_add(address, value, __ATOMIC_RELEASE);
}
template <class T>
T add(T* address, T value) {
    return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}
inline void store_release(unsigned* address, unsigned value) {
    __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
}  // namespace emulated
