//===- VectorMath.h - exp and transposition on vectors ----------*- C++ -*-===//
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_VECTORMATH_H
#define TESSERA_RUNTIME_CPU_VECTORMATH_H

#include "runtime/cpu/Simd.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Computes exp(x) with a relative error below 2e-7 (about 2 ulp); 0 below
/// -87.3, where the result would be subnormal; saturates above 88.3; NaN stays
/// NaN. The polynomial is that of Cephes' expf (Moshier), |r| <= ln(2)/2.
static inline Vec<float> exponential(Vec<float> x) {
  const Vec<float> low = broadcast(-87.3f), high = broadcast(88.3f);
  Vec<float> in = x;
  x = x < low ? low : x;
  x = x > high ? high : x;
  const float shift = 12582912.0f; // 1.5 * 2^23: rounds to an integer
  Vec<float> t = x * 1.44269504088896341f + shift;
  Vec<float> n = t - shift;
  Vec<float> r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  Vec<float> y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + r + 1.0f;
  y = (Vec<float>)((Vec<int32_t>)y + ((Vec<int32_t>)t << 23));
  return in < low ? Vec<float>{} : y;
}

constexpr double kInverseFactorial[] = {1.0,
                                        1.0,
                                        1.0 / 2,
                                        1.0 / 6,
                                        1.0 / 24,
                                        1.0 / 120,
                                        1.0 / 720,
                                        1.0 / 5040,
                                        1.0 / 40320,
                                        1.0 / 362880,
                                        1.0 / 3628800,
                                        1.0 / 39916800,
                                        1.0 / 479001600,
                                        1.0 / 6227020800};

/// Computes exp(x) with a relative error below 4e-16; 0 below -708, saturates
/// above 709. Taylor's polynomial has degree 13: the rest is below 5e-18 for
/// |r| <= ln(2)/2.
static inline Vec<double> exponential(Vec<double> x) {
  const Vec<double> low = broadcast(-708.0), high = broadcast(709.0);
  Vec<double> in = x;
  x = x < low ? low : x;
  x = x > high ? high : x;
  const double shift = 6755399441055744.0; // 1.5 * 2^52
  Vec<double> t = x * 1.4426950408889634074 + shift;
  Vec<double> n = t - shift;
  Vec<double> r = x - n * 6.93145751953125e-1;
  r = r - n * 1.42860682030941723212e-6;
  Vec<double> y = broadcast(kInverseFactorial[13]);
#pragma GCC unroll 13
  for (int i = 12; i >= 0; --i)
    y = y * r + kInverseFactorial[i];
  y = (Vec<double>)((Vec<int64_t>)y + ((Vec<int64_t>)t << 52));
  return in < low ? Vec<double>{} : y;
}

template <int... I> struct Lanes {};
template <int N, int... I> struct LanesUpTo : LanesUpTo<N - 1, N - 1, I...> {};
template <int... I> struct LanesUpTo<0, I...> { using Type = Lanes<I...>; };

/// Returns (a0, b0, a1, b1, ...) of the low or of the high halves of a and b.
template <typename T, int Base, int... I>
static inline Vec<T> interleave(Vec<T> a, Vec<T> b, Lanes<I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(a, b, (Base + I / 2 + (I & 1) * n)...);
}

/// Transposes a square of kLanes<T> vectors in place: log2(n) rounds of perfect
/// shuffles, each interleaving vector i with vector i + n/2.
template <typename T> static inline void transpose(Vec<T> *v) {
  constexpr int n = kLanes<T>;
  using All = typename LanesUpTo<n>::Type;
#pragma GCC unroll 8
  for (int width = 1; width < n; width *= 2) {
    Vec<T> w[n];
#pragma GCC unroll 16
    for (int i = 0; i < n / 2; ++i) {
      w[2 * i] = interleave<T, 0>(v[i], v[i + n / 2], All{});
      w[2 * i + 1] = interleave<T, n / 2>(v[i], v[i + n / 2], All{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      v[i] = w[i];
  }
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_VECTORMATH_H
