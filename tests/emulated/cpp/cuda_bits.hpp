// Vector types, minima and maxima, and operations on bits.
#pragma once
#include <cstring>
#include <type_traits>

struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) {
    return {x, y};
}
inline int4 make_int4(int x, int y, int z, int w) {
    return {x, y, z, w};
}

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using C = std::common_type_t<A, B>;
    return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using C = std::common_type_t<A, B>;
    return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}

inline int __popc(unsigned bits) {
    return __builtin_popcount(bits);
}
inline int __popcll(unsigned long long bits) {
    return __builtin_popcountll(bits);
}
inline int __ffs(int bits) {
    return __builtin_ffs(bits);
}
inline int __ffsll(long long bits) {
    return __builtin_ffsll(bits);
}
inline int __clz(int bits) {
    return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits));
}

namespace emulated {
template <class To, class From>
To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
}  // namespace emulated

inline float __int_as_float(int bits) {
    return emulated::bits_as<float>(bits);
}
inline int __float_as_int(float value) {
    return emulated::bits_as<int>(value);
}
inline double __longlong_as_double(long long bits) {
    return emulated::bits_as<double>(bits);
}
inline long long __double_as_longlong(double value) {
    return emulated::bits_as<long long>(value);
}
