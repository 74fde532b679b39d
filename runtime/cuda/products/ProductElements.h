//===- ProductElements.h - elements before and after a product --*- C++ -*-===//
// Computes what the library does not: C from the bias, GELU, its gradient, sums
// of an operand. A kernel or, in tests, a loop goes through the elements.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_PRODUCTS_PRODUCTELEMENTS_H
#define TESSERA_RUNTIME_CUDA_PRODUCTS_PRODUCTELEMENTS_H

#include "runtime/cpu/GemmProblem.h"
#include "runtime/cuda/Element.h"
#include "runtime/cuda/products/Int8Chunks.h"

#include <cmath>

namespace tessera::cuda {

/// C of `batch` matrices [m, n].
struct ProductStart {
  int64_t m, n, ld, stride, batch;
  bool accumulates;
};

/// Element i of batch * m * n: (C) + bias.
template <class T>
TSR_DEVICE void startElement(const ProductStart &start, T *c, const T *bias,
                             int64_t i) {
  int64_t column = i % start.n, row = i / start.n;
  T *at = c + row / start.m * start.stride + row % start.m * start.ld + column;
  decltype(widen(*at)) value = 0;
  if (bias)
    value += widen(bias[column]);
  if (start.accumulates)
    value += widen(*at);
  *at = Narrow<T>::from(value);
}

template <class T> TSR_DEVICE T geluInner(T x) {
  const T slope = T(0.79788456080286535588), cubic = T(0.044715); // sqrt(2/pi)
  return std::tanh(slope * (x + cubic * x * x * x));
}

/// Hendrycks and Gimpel 2016, with tanh.
template <class T> TSR_DEVICE T gelu(T x) {
  return T(0.5) * x * (T(1) + geluInner(x));
}

template <class T> TSR_DEVICE T geluGrad(T x) {
  const T slope = T(0.79788456080286535588), cubic = T(0.044715);
  T t = geluInner(x);
  return T(0.5) * (T(1) + t) +
         T(0.5) * x * (T(1) - t * t) * slope * (T(1) + T(3) * cubic * x * x);
}

/// C and aux of [.., n].
struct GeluRows {
  int64_t n, ldc, ldaux;
  bool isGrad;
};

/// Element i of m * n: C = gelu(aux), or C *= gelu'(aux).
template <class T>
TSR_DEVICE void geluElement(const GeluRows &rows, T *c, const T *aux,
                            int64_t i) {
  int64_t row = i / rows.n, column = i % rows.n;
  T *at = c + row * rows.ldc + column;
  auto x = widen(aux[row * rows.ldaux + column]);
  *at = Narrow<T>::from(rows.isGrad ? widen(*at) * geluGrad(x) : gelu(x));
}

/// N elements that are moved at once.
template <class T, int N> struct alignas(N * sizeof(T)) Elements { T x[N]; };

/// Widens N integers, side by side in their row, of piece i. With N above 1
/// `integers` are `inPieces`, and `to` begins at a multiple of 16 bytes.
template <class T, int N>
TSR_DEVICE void widenIntegersOf(const Integers &integers, T *to, int64_t i) {
  const int64_t pieces = integers.columns / N;
  const int64_t row = i / pieces, column = i % pieces * N;
  const auto values = *reinterpret_cast<const Elements<int8_t, N> *>(
      integers.from + row * integers.ld + column);
  Elements<T, N> floats;
  TSR_UNROLL
  for (int e = 0; e < N; ++e)
    floats.x[e] = Narrow<T>::from(float(values.x[e]));
  *reinterpret_cast<Elements<T, N> *>(to + row * integers.columns + column) =
      floats;
}

/// Adds every `stride`th term of sum i, from `first` on. In is In of the
/// operand.
template <class In>
TSR_DEVICE auto sumTerms(const GemmTerms &terms, int64_t i, int64_t first,
                         int64_t stride) {
  const In *data = static_cast<const In *>(terms.data) + i * terms.step;
  decltype(widen(*data)) sum = 0;
  for (int64_t k = first; k < terms.terms; k += stride)
    sum += widen(data[k * terms.termStep]);
  return sum;
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_PRODUCTS_PRODUCTELEMENTS_H
