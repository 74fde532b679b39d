//===- MicroKernel.h - Register-blocked matrix products ---------*- C++ -*-===//
// C[m, n] (+)= A[m, k] B[k, n] on data in cache: the only place where the
// attention and the blocked gemm do arithmetic. Every element is one chain of
// multiply-adds over k in order, whatever the tile it falls into.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_MICROKERNEL_H
#define TESSERA_RUNTIME_CPU_MICROKERNEL_H

#include "runtime/cpu/Simd.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// A matrix read element by element: (i, k) lies at data[i*row + k*step].
template <typename T> struct Strided {
  const T *data;
  int64_t row, step;
};

/// Accumulators start from zero or from the old values.
enum class Start { Zero, Old };

/// One register tile of R rows and V vectors; k >= 1. The old values are added
/// last, so that the loads, prefetched at the start, are hidden by the
/// products.
template <typename T, int R, int V>
static inline __attribute__((always_inline)) void
tile(Strided<T> a, const T *b, int64_t ldb, T *c, int64_t ldc, int64_t k,
     Start start) {
  constexpr int w = kLanes<T>;
  Vec<T> sum[R][V] = {};
  if (start == Start::Old)
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v)
        __builtin_prefetch(c + r * ldc + v * w, 1);
  const T *pa = a.data;
  do { // not a while loop: it would keep a second copy of the sums for k = 0
    Vec<T> vb[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v)
      vb[v] = load<T>(b + v * w);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      T x = pa[r * a.row];
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v)
        sum[r][v] += x * vb[v];
    }
    pa += a.step;
    b += ldb;
  } while (--k > 0);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      T *at = c + r * ldc + v * w;
      store<T>(at, start == Start::Old ? load<T>(at) + sum[r][v] : sum[r][v]);
    }
}

/// Computes the rows that are left over when m is not a multiple of kTileRows.
template <typename T, int R, int V>
static void lastRows(int64_t m, Strided<T> a, const T *b, int64_t ldb, T *c,
                     int64_t ldc, int64_t k, Start start) {
  if constexpr (R > 0) {
    if (m == R)
      return tile<T, R, V>(a, b, ldb, c, ldc, k, start);
    lastRows<T, R - 1, V>(m, a, b, ldb, c, ldc, k, start);
  }
}

/// Computes V vectors of columns for all rows.
template <typename T, int V>
static void columns(int64_t m, Strided<T> a, const T *b, int64_t ldb, T *c,
                    int64_t ldc, int64_t k, Start start) {
  for (; m >= kTileRows; m -= kTileRows) {
    tile<T, kTileRows, V>(a, b, ldb, c, ldc, k, start);
    a.data += kTileRows * a.row;
    c += kTileRows * ldc;
  }
  lastRows<T, kTileRows - 1, V>(m, a, b, ldb, c, ldc, k, start);
}

template <typename T, int V>
static void lastColumns(int64_t vectors, int64_t m, Strided<T> a, const T *b,
                        int64_t ldb, T *c, int64_t ldc, int64_t k,
                        Start start) {
  if constexpr (V > 0) {
    if (vectors == V)
      return columns<T, V>(m, a, b, ldb, c, ldc, k, start);
    lastColumns<T, V - 1>(vectors, m, a, b, ldb, c, ldc, k, start);
  }
}

/// C[m, vectors*kLanes] = A B, or += with Start::Old. B and C are row-major,
/// k >= 1.
template <typename T>
static void multiply(int64_t m, int64_t vectors, int64_t k, Strided<T> a,
                     const T *b, int64_t ldb, T *c, int64_t ldc, Start start) {
  for (; vectors >= kTileVectors; vectors -= kTileVectors) {
    columns<T, kTileVectors>(m, a, b, ldb, c, ldc, k, start);
    b += kTileVectors * kLanes<T>;
    c += kTileVectors * kLanes<T>;
  }
  lastColumns<T, kTileVectors - 1>(vectors, m, a, b, ldb, c, ldc, k, start);
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_MICROKERNEL_H
