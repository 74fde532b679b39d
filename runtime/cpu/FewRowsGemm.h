//===- FewRowsGemm.h - Products of few rows ---------------------*- C++ -*-===//
// With a row or a few, as when a model generates, a product costs what it takes
// to read B from memory, and packing B would triple that: here B is read once,
// as it lies. A row's bits depend on no other row. Included only by the
// Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_FEWROWSGEMM_H
#define TESSERA_RUNTIME_CPU_FEWROWSGEMM_H

#include "runtime/cpu/GemmProblem.h"
#include "runtime/cpu/Simd.h"

#include <type_traits>

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Of at most kFewRows rows, A not transposed. Sums are f32: where C is not,
/// they are beside it until all terms have been added.
template <typename InA, typename InB, typename Out> class FewRowsGemm {
public:
  explicit FewRowsGemm(const GemmProblem &problem)
      : p(problem), a(static_cast<const InA *>(p.a)),
        b(static_cast<const InB *>(p.b)), c(static_cast<Out *>(p.c)) {}

  /// Columns [begin, end) of C.
  void run(int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<Out, float>) {
      sums = c;
      pitch = p.ldc;
      columns(begin, end);
    } else {
      float beside[kFewRows * kBlock];
      sums = beside;
      pitch = kBlock;
      for (first = begin; first < end; first += kBlock) {
        const int64_t last = minimum(first + kBlock, end);
        columns(first, last);
        round(last);
      }
    }
  }

private:
  static constexpr int kWidth = kLanes<float>;
  /// Columns whose sums are beside C at once.
  static constexpr int64_t kBlock = 1024;
  /// Rows of A, and of B where it is transposed, that are in registers at once.
  static constexpr int64_t kRows = 4, kColumns = 4;
  /// Rows of B that are added at once where it is not: half of the registers.
  static constexpr int64_t kDepth = kWidth == 16 ? 16 : 8;

  float *sumAt(int64_t m, int64_t n) const {
    return sums + m * pitch + (n - first);
  }

  void columns(int64_t begin, int64_t end) const {
    start(begin, end);
    if (p.transB)
      dotColumns(begin, end);
    else
      sumRows(begin, end);
  }

  /// Sums begin with the bias and, to accumulate, with what C holds.
  void start(int64_t begin, int64_t end) const {
    const Out *bias = static_cast<const Out *>(p.bias);
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = begin; n < end; ++n)
        *sumAt(m, n) = (p.accumulate ? widen(c[m * p.ldc + n]) : 0.0f) +
                       (bias ? widen(bias[n]) : 0.0f);
  }

  /// Columns [first, end) of C become the sums.
  void round(int64_t end) const {
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = first; n < end; ++n)
        c[m * p.ldc + n] = Narrow<Out, float>::from(*sumAt(m, n));
  }

  template <typename In> static Vec<float> at(const In *from) {
    return WideLoad<float, In>::from(from);
  }

  /// Asks for what the next rows of B have here: a row is too short for the
  /// processor to see where reading goes on. Beyond B it does nothing.
  static void fetch(const InB *from) { __builtin_prefetch(from, 0, 2); }

  static float sumOf(Vec<float> v) {
    float lanes[kWidth];
    store<float>(lanes, v);
#pragma GCC unroll 4
    for (int step = kWidth / 2; step > 0; step /= 2)
      for (int i = 0; i < step; ++i)
        lanes[i] += lanes[i + step];
    return lanes[0];
  }

  /// B is [n, k]: dot products of its rows, a few at a time, which all rows of
  /// A meet while they are in a cache.
  void dotColumns(int64_t begin, int64_t end) const {
    int64_t n = begin;
    for (; n + kColumns <= end; n += kColumns)
      dotRows<kColumns>(n);
    for (; n < end; ++n)
      dotRows<1>(n);
  }

  template <int columns> void dotRows(int64_t n) const {
    int64_t row = 0;
    for (; row + kRows <= p.m; row += kRows)
      dots<kRows, columns>(row, n);
    switch (p.m - row) {
    case 1:
      return dots<1, columns>(row, n);
    case 2:
      return dots<2, columns>(row, n);
    case 3:
      return dots<3, columns>(row, n);
    }
  }

  template <int rows, int columns> void dots(int64_t row, int64_t n) const {
    Vec<float> sums[rows][columns] = {};
    const InA *left = a + row * p.lda;
    const InB *right = b + n * p.ldb;
    int64_t k = 0;
    for (; k + kWidth <= p.k; k += kWidth) {
      Vec<float> x[columns];
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) {
        x[j] = at(right + j * p.ldb + k);
        fetch(right + (columns + j) * p.ldb + k);
      }
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        const Vec<float> y = at(left + i * p.lda + k);
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j)
          sums[i][j] += y * x[j];
      }
    }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        float sum = sumOf(sums[i][j]);
        for (int64_t rest = k; rest < p.k; ++rest)
          sum += float(widen(left[i * p.lda + rest])) *
                 float(widen(right[j * p.ldb + rest]));
        *sumAt(row + i, n + j) += sum;
      }
  }

  /// B is [k, n]: its rows are added, a few at once, so that C is read and
  /// written less often than B.
  void sumRows(int64_t begin, int64_t end) const {
    int64_t k = 0;
    for (; k + kDepth <= p.k; k += kDepth)
      addRows<kDepth>(k, begin, end);
    for (; k < p.k; ++k)
      addRows<1>(k, begin, end);
  }

  template <int depth>
  void addRows(int64_t k, int64_t begin, int64_t end) const {
    const InB *right = b + k * p.ldb;
    int64_t n = begin;
    for (; n + kWidth <= end; n += kWidth) {
      Vec<float> x[depth];
#pragma GCC unroll 16
      for (int j = 0; j < depth; ++j) {
        x[j] = at(right + j * p.ldb + n);
        fetch(right + (depth + j) * p.ldb + n);
      }
      for (int64_t m = 0; m < p.m; ++m) {
        const InA *left = a + m * p.lda + k;
        Vec<float> sum = {};
#pragma GCC unroll 16
        for (int j = 0; j < depth; ++j)
          sum += broadcast(float(widen(left[j]))) * x[j];
        float *to = sumAt(m, n);
        store<float>(to, load<float>(to) + sum);
      }
    }
    for (; n < end; ++n)
      for (int64_t m = 0; m < p.m; ++m) {
        float sum = 0;
        for (int j = 0; j < depth; ++j)
          sum += float(widen(a[m * p.lda + k + j])) *
                 float(widen(right[j * p.ldb + n]));
        *sumAt(m, n) += sum;
      }
  }

  const GemmProblem &p;
  const InA *a;
  const InB *b;
  Out *c;
  float *sums = nullptr; ///< Of column `first` on, rows `pitch` apart.
  int64_t pitch = 0, first = 0;
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_FEWROWSGEMM_H
