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
    if constexpr (kSameType<InB, int8_t>)
      return dotIntegers(begin, end);
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

  /// Integers of which vectors have one in each byte: a vector of every fourth
  /// is two shifts away, where widening in order takes lanes apart.
  typedef Vec<int32_t> Words;
  static constexpr int64_t kWords = 4 * kWidth;
  /// Terms of A that lie in the order of `part` at once.
  static constexpr int64_t kSpan = 2048;
  /// Vectors of integers in a strip of columns, and how many rows of B ahead a
  /// strip asks for.
  static constexpr int kStrip = kWidth == 16 ? 4 : 2, kAhead = 16;

  static Vec<float> part(Words words, int number) {
    return __builtin_convertvector((words << (24 - 8 * number)) >> 24,
                                   Vec<float>);
  }

  void dotIntegers(int64_t begin, int64_t end) const {
    alignas(64) float spread[kFewRows * kSpan];
    for (int64_t k = 0; k < p.k; k += kSpan) {
      const int64_t terms = minimum(kSpan, p.k - k);
      spreadTerms(k, terms / kWords * kWords, spread);
      int64_t n = begin;
      for (; n + kColumns <= end; n += kColumns)
        integerRows<kColumns>(n, k, terms, spread);
      for (; n < end; ++n)
        integerRows<1>(n, k, terms, spread);
    }
  }

  /// Every fourth term of A together, block by block.
  void spreadTerms(int64_t first, int64_t terms, float *spread) const {
    for (int64_t m = 0; m < p.m; ++m) {
      const InA *from = a + m * p.lda + first;
      float *to = spread + m * kSpan;
      for (int64_t k = 0; k < terms; k += kWords)
        for (int64_t i = 0; i < 4; ++i)
          for (int64_t lane = 0; lane < kWidth; ++lane)
            to[k + i * kWidth + lane] = widen(from[k + 4 * lane + i]);
    }
  }

  template <int columns>
  void integerRows(int64_t n, int64_t k, int64_t terms,
                   const float *spread) const {
    int64_t row = 0;
    for (; row + kRows <= p.m; row += kRows)
      integerDots<kRows, columns>(row, n, k, terms, spread);
    switch (p.m - row) {
    case 1:
      return integerDots<1, columns>(row, n, k, terms, spread);
    case 2:
      return integerDots<2, columns>(row, n, k, terms, spread);
    case 3:
      return integerDots<3, columns>(row, n, k, terms, spread);
    }
  }

  template <int rows, int columns>
  void integerDots(int64_t row, int64_t n, int64_t first, int64_t terms,
                   const float *spread) const {
    Vec<float> sums[rows][columns] = {};
    const InB *right = b + n * p.ldb + first;
    int64_t k = 0;
    for (; k + kWords <= terms; k += kWords)
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) {
        Words words;
        __builtin_memcpy(&words, right + j * p.ldb + k, sizeof(words));
        fetch(right + (columns + j) * p.ldb + k);
#pragma GCC unroll 4
        for (int number = 0; number < 4; ++number) {
          const Vec<float> x = part(words, number);
#pragma GCC unroll 4
          for (int i = 0; i < rows; ++i)
            sums[i][j] += x * load<float>(spread + (row + i) * kSpan + k +
                                          number * kWidth);
        }
      }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        float sum = sumOf(sums[i][j]);
        for (int64_t rest = k; rest < terms; ++rest)
          sum += float(widen(a[(row + i) * p.lda + first + rest])) *
                 float(widen(right[j * p.ldb + rest]));
        *sumAt(row + i, n + j) += sum;
      }
  }

  /// Integers in rows [k, n]: sums of a strip of columns stay in registers for
  /// all of k, and a strip is narrower where more rows of A meet it. Every sum
  /// is one chain, whatever the strip.
  void sumIntegers(int64_t begin, int64_t end) const {
    if (p.m >= 4)
      integerStrips<1>(begin, end);
    else if (p.m >= 2)
      integerStrips<kStrip / 2>(begin, end);
    else
      integerStrips<kStrip>(begin, end);
  }

  template <int width> void integerStrips(int64_t begin, int64_t end) const {
    int64_t n = begin;
    for (; n + width * kWords <= end; n += width * kWords)
      rowsOfIntegers<width>(n);
    for (; n + kWords <= end; n += kWords)
      rowsOfIntegers<1>(n);
    chains(n, end);
  }

  template <int width> void rowsOfIntegers(int64_t n) const {
    int64_t row = 0;
    if constexpr (width == 1)
      for (; row + 4 <= p.m; row += 4)
        integerStrip<4, width>(row, n);
    if constexpr (width <= kStrip / 2)
      for (; row + 2 <= p.m; row += 2)
        integerStrip<2, width>(row, n);
    for (; row < p.m; ++row)
      integerStrip<1, width>(row, n);
  }

  template <int rows, int width>
  void integerStrip(int64_t row, int64_t n) const {
    Vec<float> sums[rows][width][4] = {};
    const InB *right = b + n;
    for (int64_t k = 0; k < p.k; ++k, right += p.ldb)
#pragma GCC unroll 4
      for (int j = 0; j < width; ++j) {
        Words words;
        __builtin_memcpy(&words, right + j * kWords, sizeof(words));
        fetch(right + kAhead * p.ldb + j * kWords);
#pragma GCC unroll 4
        for (int number = 0; number < 4; ++number) {
          const Vec<float> x = part(words, number);
#pragma GCC unroll 4
          for (int i = 0; i < rows; ++i)
            sums[i][j][number] +=
                broadcast(float(widen(a[(row + i) * p.lda + k]))) * x;
        }
      }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j)
        for (int number = 0; number < 4; ++number)
          for (int lane = 0; lane < kWidth; ++lane)
            *sumAt(row + i, n + j * kWords + 4 * lane + number) +=
                sums[i][j][number][lane];
  }

  /// Columns that fill no vector.
  void chains(int64_t begin, int64_t end) const {
    for (int64_t n = begin; n < end; ++n)
      for (int64_t m = 0; m < p.m; ++m)
        *sumAt(m, n) += chain(m, n);
  }

  float chain(int64_t m, int64_t n) const {
    float sum = 0;
    for (int64_t k = 0; k < p.k; ++k)
      sum += float(widen(a[m * p.lda + k])) * float(widen(b[k * p.ldb + n]));
    return sum;
  }

  /// B is [k, n]: its rows are added, a few at once, so that C is read and
  /// written less often than B. With a row or two of A sums of f32 stay in
  /// registers instead; they are added in the same order.
  void sumRows(int64_t begin, int64_t end) const {
    if constexpr (kSameType<InB, int8_t>)
      return sumIntegers(begin, end);
    if constexpr (kSameType<InB, float>)
      begin = p.m == 1   ? strips<1>(begin, end)
              : p.m == 2 ? strips<2>(begin, end)
                         : begin;
    int64_t k = 0;
    for (; k + kDepth <= p.k; k += kDepth)
      addRows<kDepth>(k, begin, end);
    for (; k < p.k; ++k)
      addRows<1>(k, begin, end);
  }

  /// Returns the first column that is in no whole strip.
  template <int rows> int64_t strips(int64_t begin, int64_t end) const {
    constexpr int width = kDepth / 2 / rows;
    for (; begin + width * kWidth <= end; begin += width * kWidth)
      strip<rows, width>(begin);
    return begin;
  }

  template <int rows, int width> void strip(int64_t n) const {
    Vec<float> sums[rows][width];
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j)
        sums[i][j] = load<float>(sumAt(i, n + j * kWidth));
    int64_t k = 0;
    for (; k + kDepth <= p.k; k += kDepth)
      addToStrip<rows, width>(k, kDepth, n, sums);
    for (; k < p.k; ++k)
      addToStrip<rows, width>(k, 1, n, sums);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j)
        store<float>(sumAt(i, n + j * kWidth), sums[i][j]);
  }

  template <int rows, int width>
  void addToStrip(int64_t first, int64_t depth, int64_t n,
                  Vec<float> (&sums)[rows][width]) const {
    Vec<float> terms[rows][width] = {};
    const InB *right = b + first * p.ldb + n;
    for (int64_t k = first; k < first + depth; ++k, right += p.ldb)
#pragma GCC unroll 8
      for (int j = 0; j < width; ++j) {
        const Vec<float> x = at(right + j * kWidth);
        fetch(right + kAhead * p.ldb + j * kWidth);
#pragma GCC unroll 2
        for (int i = 0; i < rows; ++i)
          terms[i][j] += broadcast(float(widen(a[i * p.lda + k]))) * x;
      }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j)
        sums[i][j] += terms[i][j];
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
