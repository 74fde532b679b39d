//===- Simd.h - Vectors of the instruction set being compiled for ---------===//
// Included only by the Target*.cpp files, which define TESSERA_CPU_TARGET (the
// namespace) and are compiled with that target's flags. Everything lives in the
// target's namespace and uses no inline function of the standard library, so
// that the linker cannot mix code of two instruction sets.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_SIMD_H
#define TESSERA_RUNTIME_CPU_SIMD_H

#ifndef TESSERA_CPU_TARGET
#error "define TESSERA_CPU_TARGET before including Simd.h"
#endif

#include "runtime/cpu/Bf16.h"

#include <cstdint>

namespace tessera {
namespace TESSERA_CPU_TARGET {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
/// Register tile of the matrix kernels: rows, vectors per row.
constexpr int kTileRows = 6, kTileVectors = 4;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kTileRows = 6, kTileVectors = 2;
#else
constexpr int kVectorBytes = 16;
constexpr int kTileRows = 4, kTileVectors = 2;
#endif

template <typename T> struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};
template <typename T> using Vec = typename VectorOf<T>::Type;
template <typename T> constexpr int kLanes = kVectorBytes / int(sizeof(T));

template <typename T, typename U> constexpr bool kSameType = false;
template <typename T> constexpr bool kSameType<T, T> = true;

/// The signed integer as wide as T: the type of lane masks.
template <typename T> struct IntegerOf;
template <> struct IntegerOf<float> { using Type = int32_t; };
template <> struct IntegerOf<double> { using Type = int64_t; };
template <typename T> using Int = typename IntegerOf<T>::Type;

static inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t roundUp(int64_t a, int64_t b) {
  return ceilDiv(a, b) * b;
}

/// Unaligned load and store of a whole vector.
template <typename T> static inline Vec<T> load(const T *p) {
  Vec<T> v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
template <typename T> static inline void store(T *p, Vec<T> v) {
  __builtin_memcpy(p, &v, sizeof(v));
}

/// All lanes equal to x. Through integers: adding a floating zero would not
/// keep -0 and could not be folded away.
template <typename T> static inline Vec<T> broadcast(T x) {
  Int<T> bits;
  __builtin_memcpy(&bits, &x, sizeof(x));
  return (Vec<T>)(Vec<Int<T>>{} + bits);
}

/// Element conversions between memory types and compute types.
static inline float widen(float x) { return x; }
static inline double widen(double x) { return x; }
static inline float widen(Bf16 x) { return bf16ToFloat(x); }
static inline float widen(int8_t x) { return x; }
template <typename Out, typename T> struct Narrow {
  static inline Out from(T x) { return Out(x); }
};
template <> struct Narrow<Bf16, float> {
  static inline Bf16 from(float x) { return floatToBf16(x); }
};

/// Loads one vector of T from memory of type In.
template <typename T, typename In> struct WideLoad {
  static inline Vec<T> from(const In *p) { return load<T>(p); }
};
template <> struct WideLoad<float, Bf16> {
  static inline Vec<float> from(const Bf16 *p) {
    typedef uint16_t Half __attribute__((vector_size(kVectorBytes / 2)));
    Half half;
    __builtin_memcpy(&half, p, sizeof(half));
    return (Vec<float>)(__builtin_convertvector(half, Vec<uint32_t>) << 16);
  }
};

/// Step by step: GCC takes lanes out one by one to widen them fourfold.
template <> struct WideLoad<float, int8_t> {
  static inline Vec<float> from(const int8_t *p) {
    typedef int8_t Bytes __attribute__((vector_size(kVectorBytes / 4)));
    typedef int16_t Shorts __attribute__((vector_size(kVectorBytes / 2)));
    Bytes bytes;
    __builtin_memcpy(&bytes, p, sizeof(bytes));
    const Shorts shorts = __builtin_convertvector(bytes, Shorts);
    return __builtin_convertvector(
        __builtin_convertvector(shorts, Vec<int32_t>), Vec<float>);
  }
};
template <> struct WideLoad<double, int8_t> {
  static inline Vec<double> from(const int8_t *p) {
    Vec<double> v;
    for (int i = 0; i < kLanes<double>; ++i)
      v[i] = p[i];
    return v;
  }
};

/// Stores one vector of T into memory of type Out, rounding to nearest even.
template <typename Out, typename T> struct NarrowStore {
  static inline void to(Out *p, Vec<T> v) { store<T>(p, v); }
};
template <> struct NarrowStore<Bf16, float> {
  static inline void to(Bf16 *p, Vec<float> v) {
    typedef uint16_t Half __attribute__((vector_size(kVectorBytes / 2)));
    Vec<uint32_t> bits = (Vec<uint32_t>)v;
    Vec<uint32_t> rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    Vec<uint32_t> nan = (bits >> 16) | 0x40u;
    Vec<uint32_t> chosen = v == v ? rounded : nan;
    Half half = __builtin_convertvector(chosen, Half);
    __builtin_memcpy(p, &half, sizeof(half));
  }
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_SIMD_H
