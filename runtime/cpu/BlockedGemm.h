//===- BlockedGemm.h - One thread's part of a matrix product ----*- C++ -*-===//
// Goto & van de Geijn 2008, with packed panels of B. The tile reads A by
// elements: in place where its rows are contiguous, else from a copy. Packing
// also transposes and widens bf16 and i8 to f32. Every element of C is one
// chain over k in blocks of kDepth, whatever the region, so the result does not
// depend on the number of threads. Included only by the Target*.cpp files, see
// Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_BLOCKEDGEMM_H
#define TESSERA_RUNTIME_CPU_BLOCKEDGEMM_H

#include "runtime/cpu/GemmProblem.h"
#include "runtime/cpu/MicroKernel.h"
#include "runtime/cpu/Packing.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Block sizes: a kDepth x kPanel panel of B is read from L1 and L2, a kRows x
/// kDepth block of A and the kDepth x kColumns block of B in L2 (of 1 MiB or
/// more).
#if defined(__AVX512F__)
constexpr int64_t kDepth = 768, kColumns = 256;
#else
constexpr int64_t kDepth = 384, kColumns = 512;
#endif
constexpr int64_t kRows = 32 * kTileRows;
/// C is summed in f32 for at most this many rows before it is rounded to bf16.
constexpr int64_t kSuperRows = 6 * kRows;

template <typename T, typename InA, typename InB, typename Out>
class BlockedGemm {
public:
  BlockedGemm(const GemmProblem &problem, const GemmRegion &region,
              void *memory)
      : p(problem), g(region), scratch{static_cast<unsigned char *>(memory)} {
    const int64_t rows = minimum(kSuperRows, g.rowEnd - g.rowBegin);
    const int64_t columns = g.columnEnd - g.columnBegin;
    width = minimum(kColumns, roundUp(columns, kPanel));
    const int64_t depth = minimum(kDepth, roundUp(p.k, kLanes<T>));
    copyA = scratch.take<T>(roundUp(minimum(kRows, rows), kLanes<T>) * depth);
    packedB = scratch.take<T>(width * depth);
    edge = scratch.take<T>(kTileRows * kPanel);
    sums = scratch.take<T>(kSumsInC ? 0 : rows * width);
  }

  size_t bytes() const { return scratch.used; }

  void run() {
    for (int64_t m = g.rowBegin; m < g.rowEnd; m += kSuperRows)
      for (int64_t n = g.columnBegin; n < g.columnEnd; n += width)
        block({m, minimum(m + kSuperRows, g.rowEnd), n,
               minimum(n + width, g.columnEnd)});
  }

private:
  static constexpr int64_t kPanel = kTileVectors * kLanes<T>;
  static constexpr bool kSumsInC = kSameType<T, Out>;

  void block(const GemmRegion &r) {
    origin = r;
    const bool fromZero = p.k > 0 && !p.accumulate && !p.bias;
    int64_t k = 0;
    do {
      const int64_t depth = minimum(kDepth, p.k - k);
      packB(k, depth);
      for (int64_t m = r.rowBegin; m < r.rowEnd; m += kRows) {
        const GemmRegion part{m, minimum(m + kRows, r.rowEnd), r.columnBegin,
                              r.columnEnd};
        if (k == 0 && !fromZero)
          initialise(part);
        if (depth > 0)
          multiplyPart(part, k, depth,
                       k == 0 && fromZero ? Start::Zero : Start::Old);
        if (k + depth == p.k)
          finish(part);
      }
      k += kDepth;
    } while (k < p.k);
  }

  /// Returns the address where an element of C is summed: in C itself, or in
  /// f32 beside it.
  T *sumAt(int64_t row, int64_t column) {
    if constexpr (kSumsInC)
      return static_cast<T *>(p.c) + row * p.ldc + column;
    return sums + (row - origin.rowBegin) * width + column - origin.columnBegin;
  }
  int64_t sumRow() const { return kSumsInC ? p.ldc : width; }

  /// Starts the sums from C, the bias, both or zero.
  void initialise(const GemmRegion &r) {
    const Out *bias = static_cast<const Out *>(p.bias);
    for (int64_t m = r.rowBegin; m < r.rowEnd; ++m) {
      T *sum = sumAt(m, r.columnBegin) - r.columnBegin;
      const Out *c = static_cast<const Out *>(p.c) + m * p.ldc;
      for (int64_t n = r.columnBegin; n < r.columnEnd; ++n) {
        T start = p.accumulate ? T(widen(c[n])) : T(0);
        sum[n] = bias ? start + T(widen(bias[n])) : start;
      }
    }
  }

  void finish(const GemmRegion &r) {
    if constexpr (!kSumsInC)
      for (int64_t m = r.rowBegin; m < r.rowEnd; ++m)
        writeRow<T, Out>(sumAt(m, r.columnBegin), r.columnEnd - r.columnBegin,
                         T(1),
                         static_cast<Out *>(p.c) + m * p.ldc + r.columnBegin);
  }

  /// packedB[panel][k][column]: panels of kPanel columns, the last padded with
  /// zeros.
  void packB(int64_t k, int64_t depth) {
    const InB *b = static_cast<const InB *>(p.b);
    const int64_t first = origin.columnBegin, count = origin.columnEnd - first;
    const int64_t whole = p.transB ? 0 : count / kPanel;
    packPanels(b + k * p.ldb + first, whole, depth);
    for (int64_t n = whole * kPanel; n < count; n += kPanel) {
      const int64_t columns = minimum(kPanel, count - n);
      T *out = packedB + n * depth;
      if (p.transB)
        packColumns(b + (first + n) * p.ldb + k, columns, depth, out);
      else
        packPanel(b + k * p.ldb + first + n, columns, depth, out);
    }
  }

  /// Whole panels: each row of B is read in one piece.
  void packPanels(const InB *from, int64_t panels, int64_t depth) {
    constexpr int w = kLanes<T>;
    for (int64_t d = 0; d < depth; ++d, from += p.ldb) {
      T *to = packedB + d * kPanel;
      for (int64_t i = 0; i < panels * kPanel;
           i += kPanel, to += kPanel * depth)
        for (int64_t j = 0; j < kPanel; j += w)
          store<T>(to + j, WideLoad<T, InB>::from(from + i + j));
    }
  }

  void packColumns(const InB *from, int64_t columns, int64_t depth, T *out) {
    for (int64_t i = roundUp(columns, kLanes<T>); i < kPanel; ++i)
      for (int64_t d = 0; d < depth; ++d)
        out[d * kPanel + i] = 0;
    packTransposed<T, InB>(from, p.ldb, columns, depth, T(1), out, kPanel);
  }

  void packPanel(const InB *from, int64_t columns, int64_t depth, T *out) {
    constexpr int w = kLanes<T>;
    for (int64_t d = 0; d < depth; ++d, from += p.ldb, out += kPanel) {
      int64_t i = 0;
      for (; i + w <= columns; i += w)
        store<T>(out + i, WideLoad<T, InB>::from(from + i));
      for (; i < kPanel; ++i)
        out[i] = i < columns ? T(widen(from[i])) : T(0);
    }
  }

  Strided<T> readA(const InA *from, int64_t count, int64_t depth) {
    if (p.transA) {
      const Rows<T> copy = copyRows<T, InA>(from, p.lda, depth, count, copyA);
      return {copy.data, 1, copy.row};
    }
    if constexpr (kSameType<T, InA>) {
      return {from, p.lda, 1};
    } else {
      const Rows<T> copy = copyRows<T, InA>(from, p.lda, count, depth, copyA);
      return {copy.data, copy.row, 1};
    }
  }

  void multiplyPart(const GemmRegion &part, int64_t k, int64_t depth,
                    Start start) {
    const int64_t m = part.rowBegin, count = part.rowEnd - m;
    const Strided<T> a = readA(static_cast<const InA *>(p.a) +
                                   (p.transA ? k * p.lda + m : m * p.lda + k),
                               count, depth);
    const T *panel = packedB;
    for (int64_t n = part.columnBegin; n < part.columnEnd;
         n += kPanel, panel += kPanel * depth)
      multiplyPanel(a, panel, depth, count, minimum(kPanel, part.columnEnd - n),
                    sumAt(m, n), start);
  }

  /// Vectors at the right edge that are not whole are summed beside C.
  void multiplyPanel(Strided<T> a, const T *panel, int64_t depth, int64_t rows,
                     int64_t columns, T *c, Start start) {
    const int64_t ldc = sumRow(), vectors = ceilDiv(columns, kLanes<T>);
    if (columns % kLanes<T> == 0)
      return multiply<T>(rows, vectors, depth, a, panel, kPanel, c, ldc, start);
    for (int64_t m = 0; m < rows; m += kTileRows) {
      const int64_t height = minimum(kTileRows, rows - m);
      multiply<T>(height, vectors, depth, {a.data + m * a.row, a.row, a.step},
                  panel, kPanel, edge, kPanel, Start::Zero);
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          T *at = c + (m + i) * ldc + j;
          *at = edge[i * kPanel + j] + (start == Start::Old ? *at : T(0));
        }
    }
  }

  const GemmProblem &p;
  const GemmRegion g;
  Scratch scratch;
  int64_t width;
  GemmRegion origin; /* the block being computed */
  T *copyA, *packedB, *edge, *sums;
};

template <typename T, typename In, typename Out, typename Use>
static void withTypeOfB(const GemmProblem &p, const GemmRegion &region,
                        void *memory, Use use) {
  if (p.int8B)
    return use(BlockedGemm<T, In, int8_t, Out>(p, region, memory));
  return use(BlockedGemm<T, In, In, Out>(p, region, memory));
}

/// Calls use(BlockedGemm) of the problem's types.
template <typename Use>
static void withBlockedGemm(const GemmProblem &p, const GemmRegion &region,
                            void *memory, Use use) {
  if (p.dtypeAB == TSR_DTYPE_F64)
    return withTypeOfB<double, double, double>(p, region, memory, use);
  if (p.dtypeAB == TSR_DTYPE_F32)
    return withTypeOfB<float, float, float>(p, region, memory, use);
  if (p.dtypeC == TSR_DTYPE_F32)
    return withTypeOfB<float, Bf16, float>(p, region, memory, use);
  return withTypeOfB<float, Bf16, Bf16>(p, region, memory, use);
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_BLOCKEDGEMM_H
