//===- FewRowsGemm.h - Products of few rows ---------------------*- C++ -*-===//
// With a row or a few, as when a model generates, a product costs what it takes
// to read B from memory, and packing B would triple that: here B is read once,
// as it lies. A row's bits depend on no other row. Included only by the
// Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_FEWROWSGEMM_H
#define TESSERA_RUNTIME_CPU_FEWROWSGEMM_H

#include "runtime/cpu/GemmProblem.h"
#include "runtime/cpu/VectorMath.h"

#include <type_traits>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Multiplies at most kFewRows rows; A is not transposed. Sums are f32: if C is
/// not, they are beside it until all terms have been added.
template <typename InA, typename InB, typename Out> class FewRowsGemm {
public:
  explicit FewRowsGemm(const GemmProblem &problem)
      : p(problem), a(static_cast<const InA *>(p.a)),
        b(static_cast<const InB *>(p.b)), c(static_cast<Out *>(p.c)) {}

  /// Columns [begin, end) of C where B is transposed, in blocks of about as
  /// many.
  void run(int64_t begin, int64_t end) {
    inBlocks(begin, end, [&](int64_t last) { dotColumns(first, last); });
  }

  /// Sums of a slice of terms where B is not transposed, strip by strip.
  void runSlice(const FewRowsSlice &slice, float *sums) const {
    // One or two rows wait for memory, and long rows of B are read fastest; of
    // more rows the sums stay in the first-level cache.
    const int64_t step = p.m <= 2 ? 8 * kBlock : 2 * kBlock / p.m;
    const int64_t end = minimum(slice.columnEnd, p.n / kStrip * kStrip);
    for (int64_t n = slice.columnBegin; n < end; n += roundUp(step, kStrip))
      sumRows(slice, n, minimum(n + roundUp(step, kStrip), end), sums);
  }

  /// Columns [begin, end) of C from the sums of all slices.
  void merge(int64_t slices, const float *from, int64_t begin, int64_t end) {
    const int64_t whole = p.n / kStrip * kStrip;
    inBlocks(begin, end, [&](int64_t last) {
      for (int64_t n = first; n + kStrip <= last; n += kStrip)
        for (int64_t m = 0; m < p.m; ++m)
          mergeStrip(slices, from + n * p.m + m * kStrip, sumAt(m, n));
      chains(maximum(first, whole), last);
    });
  }

private:
  static constexpr int kWidth = kLanes<float>;
  /// Columns whose sums are beside C at once.
  static constexpr int64_t kBlock = 2048;
  /// Rows of A, and of B where it is transposed, that are in registers at once.
  static constexpr int64_t kRows = 4, kColumns = 4;
  /// Rows of B that are added at once where it is not (half as many for one or
  /// two rows of A), and columns of a strip of them: a cache line of bytes, or
  /// several of wider elements.
  static constexpr int64_t kDepth = 16, kStrip = kFewRowsStrip;
  /// Terms of A that are widened at once.
  static constexpr int64_t kSpan = 2048;
  /// Elements of four vectors of sums.
  static constexpr int64_t kFour = 4 * kWidth;

  /// Blocks of columns [first, last): `add` adds terms to their sums.
  template <typename Add>
  void inBlocks(int64_t begin, int64_t end, const Add &add) {
    const int64_t blocks = ceilDiv(end - begin, kBlock);
    const int64_t step = roundUp(ceilDiv(end - begin, blocks), kStrip);
    for (first = begin; first < end; first += step) {
      const int64_t last = minimum(first + step, end);
      if constexpr (std::is_same_v<Out, float>) {
        sums = c + first;
        pitch = p.ldc;
        start(first, last);
        add(last);
      } else {
        float beside[kFewRows * kBlock];
        sums = beside;
        pitch = kBlock;
        start(first, last);
        add(last);
        round(last);
      }
    }
  }

  float *sumAt(int64_t m, int64_t n) const {
    return sums + m * pitch + (n - first);
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

  /// Asks for what the next rows of B have here: a row is too short for the
  /// processor to see where reading goes on. Beyond B it does nothing.
  static void fetch(const InB *from) { __builtin_prefetch(from, 0, 2); }
  static void fetchRow(const InB *from, int64_t count) {
    for (int64_t i = 0; i < count; i += 64 / int64_t(sizeof(InB)))
      fetch(from + i);
  }

  static float sumOf(Vec<float> v) {
    float lanes[kWidth];
    store<float>(lanes, v);
#pragma GCC unroll 4
    for (int step = kWidth / 2; step > 0; step /= 2)
      for (int i = 0; i < step; ++i)
        lanes[i] += lanes[i + step];
    return lanes[0];
  }

  /// Integers of which vectors have one in each byte: taking every fourth apart
  /// is one shuffle, where widening in order is several. They are widened to
  /// the upper byte of a lane, so sums are 2^24 times too large until they are
  /// scaled, which is exact for sums below 2^104.
  typedef Vec<int32_t> Words;
  static constexpr bool kIntegers = kSameType<InB, int8_t>;
  static constexpr float kScale = kIntegers ? 0x1p-24f : 1;

  /// Moves the upper bytes by a shuffle, whose pattern takes a register, or by
  /// a shift and a mask.
  template <int number, bool shuffled> static Words upperByte(Words words) {
#if defined(__AVX2__)
    if constexpr (shuffled) {
      Words pattern; // bytes that are 0 but for the upper one of each lane
      for (int lane = 0; lane < kWidth; ++lane)
        pattern[lane] = (4 * (lane % 4) + number) << 24 | 0x808080;
#if defined(__AVX512BW__)
      return (Words)_mm512_shuffle_epi8((__m512i)words, (__m512i)pattern);
#else
      return (Words)_mm256_shuffle_epi8((__m256i)words, (__m256i)pattern);
#endif
    }
#endif
    return words << (24 - 8 * number) & int32_t(0xff000000);
  }

  template <bool shuffled> static void parts(Words words, Vec<float> *x) {
    x[0] = __builtin_convertvector(upperByte<0, shuffled>(words), Vec<float>);
    x[1] = __builtin_convertvector(upperByte<1, shuffled>(words), Vec<float>);
    x[2] = __builtin_convertvector(upperByte<2, shuffled>(words), Vec<float>);
    x[3] = __builtin_convertvector(upperByte<3, shuffled>(words), Vec<float>);
  }

  /// f32 terms of A's rows.
  struct Left {
    const float *terms;
    int64_t pitch;
    const float *at(int64_t m, int64_t k) const {
      return terms + m * pitch + k;
    }
  };
  /// Rows of terms lie apart by no power of two, so that they do not meet in
  /// the same places of a cache.
  static constexpr int64_t kTermPitch = kSpan + 16;

  /// Terms [first, first + count) of A's rows; those that meet four vectors of
  /// integers are in the order of their parts.
  void widenTerms(int64_t first, int64_t count, float *to) const {
    const int64_t whole = kIntegers ? count / kFour * kFour : 0;
    for (int64_t m = 0; m < p.m; ++m, to += kTermPitch) {
      const InA *from = a + m * p.lda + first;
      for (int64_t k = 0; k < whole; k += kFour)
        for (int64_t i = 0; i < 4; ++i)
          for (int64_t lane = 0; lane < kWidth; ++lane)
            to[k + i * kWidth + lane] = float(widen(from[k + 4 * lane + i]));
      for (int64_t k = whole; k < count; ++k)
        to[k] = float(widen(from[k]));
    }
  }

  /// B is [n, k]: dot products of its rows, a few at a time, which all rows of
  /// A meet while they are in a cache.
  void dotColumns(int64_t begin, int64_t end) const {
    if constexpr (kSameType<InA, float> && !kIntegers)
      return dotTerms(begin, end, 0, p.k, {a, p.lda});
    alignas(64) float terms[kFewRows * kTermPitch];
    for (int64_t k = 0; k < p.k; k += kSpan) {
      const int64_t count = minimum(kSpan, p.k - k);
      widenTerms(k, count, terms);
      dotTerms(begin, end, k, count, {terms, kTermPitch});
    }
  }

  void dotTerms(int64_t begin, int64_t end, int64_t k, int64_t count,
                Left left) const {
    int64_t n = begin;
    // With one row there are too few chains of integers' sums otherwise.
    if (kIntegers && p.m == 1)
      for (; n + 2 * kColumns <= end; n += 2 * kColumns)
        dots<1, 2 * kColumns>(0, n, k, count, left);
    for (; n + kColumns <= end; n += kColumns)
      dotRows<kColumns>(n, k, count, left);
    for (; n < end; ++n)
      dotRows<1>(n, k, count, left);
  }

  template <int columns>
  void dotRows(int64_t n, int64_t k, int64_t count, Left left) const {
    int64_t m = 0;
    for (; m + kRows <= p.m; m += kRows)
      dots<kRows, columns>(m, n, k, count, left);
    switch (p.m - m) {
    case 1:
      return dots<1, columns>(m, n, k, count, left);
    case 2:
      return dots<2, columns>(m, n, k, count, left);
    case 3:
      return dots<3, columns>(m, n, k, count, left);
    }
  }

  template <int rows, int columns>
  void dots(int64_t m, int64_t n, int64_t first, int64_t count,
            Left left) const {
    Vec<float> sums[rows][columns] = {};
    const InB *right = b + n * p.ldb + first;
    constexpr int64_t step = kIntegers ? kFour : kWidth;
    int64_t k = 0;
    for (; k + step <= count; k += step) {
      if constexpr (kIntegers)
        dotIntegers<rows, columns>(right + k, left.at(m, k), left.pitch, sums);
      else
        dotVectors<rows, columns>(right + k, left.at(m, k), left.pitch, sums);
    }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        float sum = sumOf(sums[i][j]) * kScale;
        for (int64_t rest = k; rest < count; ++rest)
          sum += *left.at(m + i, rest) * float(widen(right[j * p.ldb + rest]));
        *sumAt(m + i, n + j) += sum;
      }
  }

  template <int rows, int columns>
  void dotVectors(const InB *right, const float *left, int64_t pitch,
                  Vec<float> (&sums)[rows][columns]) const {
    Vec<float> x[columns];
#pragma GCC unroll 4
    for (int j = 0; j < columns; ++j) {
      x[j] = WideLoad<float, InB>::from(right + j * p.ldb);
      fetch(right + (columns + j) * p.ldb);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const Vec<float> y = load<float>(left + i * pitch);
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j)
        sums[i][j] += y * x[j];
    }
  }

  template <int rows, int columns>
  void dotIntegers(const InB *right, const float *left, int64_t pitch,
                   Vec<float> (&sums)[rows][columns]) const {
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) {
      Words words;
      __builtin_memcpy(&words, right + j * p.ldb, sizeof(words));
      fetch(right + (columns + j) * p.ldb);
      Vec<float> x[4];
      parts<rows == 1>(words, x);
#pragma GCC unroll 4
      for (int number = 0; number < 4; ++number)
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i)
          sums[i][j] +=
              x[number] * load<float>(left + i * pitch + number * kWidth);
    }
  }

  /// B is [k, n]: a few of its rows are added at once along all columns, so
  /// that memory is read in the order in which it lies. Terms of A are widened
  /// before, and stand together by their number.
  void sumRows(const FewRowsSlice &slice, int64_t begin, int64_t end,
               float *sums) const {
    alignas(64) float left[kSpan * kFewRows];
    for (int64_t i = begin * p.m; i < end * p.m; ++i)
      sums[i] = 0;
    const int64_t depth = p.m <= 2 ? kDepth / 2 : kDepth;
    for (int64_t k = slice.termBegin; k < slice.termEnd; k += kSpan) {
      const int64_t terms = minimum(kSpan, slice.termEnd - k);
      for (int64_t m = 0; m < p.m; ++m)
        for (int64_t i = 0; i < terms; ++i)
          left[i * kFewRows + m] = float(widen(a[m * p.lda + k + i]));
      for (int64_t i = 0; i < terms; i += depth)
        addRows(k + i, minimum(depth, terms - i), begin, end,
                left + i * kFewRows, sums);
    }
  }

  /// Adds a strip of all slices; sums of integers are in the order of their
  /// parts.
  void mergeStrip(int64_t slices, const float *from, float *to) const {
    alignas(64) float sums[kStrip] = {};
    for (int64_t slice = 0; slice < slices; ++slice, from += fewRowsSums(p))
      for (int64_t n = 0; n < kStrip; ++n)
        sums[n] += from[n];
    if constexpr (kIntegers) {
      for (int64_t n = 0; n < kStrip; n += kFour)
        for (int lane = 0; lane < kWidth; ++lane)
          for (int number = 0; number < 4; ++number)
            to[n + 4 * lane + number] +=
                sums[n + number * kWidth + lane] * kScale;
    } else {
      for (int64_t n = 0; n < kStrip; ++n)
        to[n] += sums[n];
    }
  }

  /// Adds `depth` rows of B from row k on. For more than two rows of A they are
  /// widened first, once for all.
  void addRows(int64_t k, int64_t depth, int64_t begin, int64_t end,
               const float *left, float *sums) const {
    for (int64_t n = begin; n < end; n += kStrip) {
      const InB *right = b + k * p.ldb + n;
      float *to = sums + n * p.m;
      if (p.m == 1) {
        addStrip<1>(right, depth, left, to);
      } else if (p.m == 2) {
        addStrip<2>(right, depth, left, to);
      } else if constexpr (kSameType<InB, float>) {
        addTiles(right, p.ldb, depth, kDepth * p.ldb, left, to);
      } else {
        alignas(64) float wide[kDepth * kStrip];
        widenStrip(right, depth, wide);
        addTiles(wide, kStrip, depth, 0, left, to);
      }
    }
  }

  /// Loads four vectors of a row; integers come in the order of their parts.
  template <bool shuffled>
  static void loadFour(const InB *from, Vec<float> *x) {
    if constexpr (kIntegers) {
      Words words;
      __builtin_memcpy(&words, from, sizeof(words));
      parts<shuffled>(words, x);
    } else {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j)
        x[j] = WideLoad<float, InB>::from(from + j * kWidth);
    }
  }

  /// A strip that goes from memory into registers.
  template <int rows>
  void addStrip(const InB *right, int64_t depth, const float *left,
                float *to) const {
    constexpr int vectors = 4;
    for (int64_t n = 0; n < kStrip; n += vectors * kWidth) {
      Vec<float> sums[rows][vectors];
      loadSums<rows, vectors>(to + n, sums);
      const InB *from = right + n;
      for (int64_t k = 0; k < depth; ++k, from += p.ldb) {
        Vec<float> x[vectors];
        loadFour<rows == 1>(from, x);
        fetchRow(from + depth * p.ldb, vectors * kWidth);
        addProducts<rows, vectors>(left + k * kFewRows, x, sums);
      }
      storeSums<rows, vectors>(sums, to + n);
    }
  }

  /// Widens a strip to f32, in the order in which tiles read it.
  void widenStrip(const InB *right, int64_t depth, float *wide) const {
    for (int64_t k = 0; k < depth; ++k, right += p.ldb, wide += kStrip) {
      fetchRow(right + kDepth * p.ldb, kStrip);
      for (int64_t n = 0; n < kStrip; n += 4 * kWidth) {
        Vec<float> x[4];
        loadFour<true>(right + n, x);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          store<float>(wide + n + j * kWidth, x[j]);
      }
    }
  }

  /// The first rows of A ask for what lies `ahead`.
  void addTiles(const float *right, int64_t ldb, int64_t depth, int64_t ahead,
                const float *left, float *to) const {
    int64_t m = addTilesFrom<4>(0, right, ldb, depth, ahead, left, to);
    m = addTilesFrom<2>(m, right, ldb, depth, ahead, left, to);
    addTilesFrom<1>(m, right, ldb, depth, ahead, left, to);
  }

  /// Returns the first row that is in no whole tile.
  template <int rows>
  int64_t addTilesFrom(int64_t m, const float *right, int64_t ldb,
                       int64_t depth, int64_t ahead, const float *left,
                       float *to) const {
    for (; m + rows <= p.m; m += rows)
      addTilesOf<rows>(right, ldb, depth, m ? 0 : ahead, left + m,
                       to + m * kStrip);
    return m;
  }

  template <int rows>
  void addTilesOf(const float *right, int64_t ldb, int64_t depth, int64_t ahead,
                  const float *left, float *to) const {
    constexpr int vectors = kWidth == 16 ? 4 : 2;
    for (int64_t n = 0; n < kStrip; n += vectors * kWidth) {
      Vec<float> sums[rows][vectors];
      loadSums<rows, vectors>(to + n, sums);
      for (int64_t k = 0; k < depth; ++k) {
        const float *from = right + k * ldb + n;
        Vec<float> x[vectors];
#pragma GCC unroll 4
        for (int j = 0; j < vectors; ++j)
          x[j] = load<float>(from + j * kWidth);
        __builtin_prefetch(from + ahead, 0, 2);
        addProducts<rows, vectors>(left + k * kFewRows, x, sums);
      }
      storeSums<rows, vectors>(sums, to + n);
    }
  }

  template <int rows, int vectors>
  static void addProducts(const float *left, const Vec<float> *x,
                          Vec<float> (&terms)[rows][vectors]) {
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const Vec<float> y = broadcast(left[i]);
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j)
        terms[i][j] += y * x[j];
    }
  }

  template <int rows, int vectors>
  static void loadSums(const float *from, Vec<float> (&sums)[rows][vectors]) {
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j)
        sums[i][j] = load<float>(from + i * kStrip + j * kWidth);
  }

  template <int rows, int vectors>
  static void storeSums(const Vec<float> (&sums)[rows][vectors], float *to) {
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < vectors; ++j)
        store<float>(to + i * kStrip + j * kWidth, sums[i][j]);
  }

  /// Computes columns that fill no strip.
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

  const GemmProblem &p;
  const InA *a;
  const InB *b;
  Out *c;
  /// The sums from column `first` on, in rows `pitch` apart.
  float *sums = nullptr;
  int64_t pitch = 0, first = 0;
};

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_FEWROWSGEMM_H
