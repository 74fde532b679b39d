//===- BlockedGemm.h - One thread's part of a matrix product ----*- C++ -*-===//
// Goto & van de Geijn 2008: panels of A and B are packed so that the register
// tile reads both with unit stride; packing also transposes and widens bf16 to
// f32. Every element of C is one chain over k in blocks of kDepth, whatever the
// region, so the result does not depend on the number of threads.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CPU_BLOCKEDGEMM_H
#define TESSERA_CPU_BLOCKEDGEMM_H

#include "AttentionBlocks.h"
#include "GemmProblem.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Block sizes: a kDepth x kPanel panel of B stays in L1, a kRows x kDepth
/// block of A and the kDepth x kColumns block of B in L2.
constexpr int64_t kDepth = 256, kColumns = 768;
constexpr int64_t kRows = 32 * kTileRows;
/// C is summed in f32 for at most this many rows before it is rounded to bf16.
constexpr int64_t kSuperRows = 5 * kRows;

/// A matrix as its packed panels see it: element (i, k) of the panel dimension
/// i and the summed dimension k lies at data[i*panelStep + k*depthStep].
template <typename In> struct Operand {
  const In *data;
  int64_t panelStep, depthStep;
};

template <typename T, typename In, typename Out> class BlockedGemm {
public:
  BlockedGemm(const GemmProblem &problem, const GemmRegion &region,
              void *memory)
      : p(problem), g(region), scratch{static_cast<unsigned char *>(memory)} {
    const int64_t rows = minimum(kSuperRows, g.rowEnd - g.rowBegin);
    const int64_t columns = g.columnEnd - g.columnBegin;
    width = minimum(kColumns, roundUp(columns, kPanel));
    const int64_t depth = minimum(kDepth, p.k);
    packedA = scratch.take<T>(minimum(kRows, roundUp(rows, kTileRows)) * depth);
    packedB = scratch.take<T>(width * depth);
    edge = scratch.take<T>(kTileRows * kPanel);
    sums = scratch.take<T>(kSumsInC ? 0 : rows * width);
    const In *pa = static_cast<const In *>(p.a);
    const In *pb = static_cast<const In *>(p.b);
    a = p.transA ? Operand<In>{pa, 1, p.lda} : Operand<In>{pa, p.lda, 1};
    b = p.transB ? Operand<In>{pb, p.ldb, 1} : Operand<In>{pb, 1, p.ldb};
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

  T *sumAt(const GemmRegion &r, int64_t row, int64_t column) {
    if constexpr (kSumsInC)
      return static_cast<T *>(p.c) + row * p.ldc + column;
    return sums + (row - r.rowBegin) * width + column - r.columnBegin;
  }
  int64_t sumRow() const { return kSumsInC ? p.ldc : width; }

  void block(const GemmRegion &r) {
    initialise(r);
    for (int64_t k = 0; k < p.k; k += kDepth) {
      const int64_t depth = minimum(kDepth, p.k - k);
      pack<kPanel>(b, r.columnBegin, r.columnEnd, k, depth, packedB);
      for (int64_t m = r.rowBegin; m < r.rowEnd; m += kRows) {
        const GemmRegion part{m, minimum(m + kRows, r.rowEnd), r.columnBegin,
                              r.columnEnd};
        pack<kTileRows>(a, part.rowBegin, part.rowEnd, k, depth, packedA);
        multiplyPacked(r, part, depth);
      }
    }
    if constexpr (!kSumsInC)
      for (int64_t m = r.rowBegin; m < r.rowEnd; ++m)
        writeRow<T, Out>(sumAt(r, m, r.columnBegin),
                         r.columnEnd - r.columnBegin, T(1),
                         static_cast<Out *>(p.c) + m * p.ldc + r.columnBegin);
  }

  /// The sums start from C, the bias, both or zero.
  void initialise(const GemmRegion &r) {
    const Out *bias = static_cast<const Out *>(p.bias);
    for (int64_t m = r.rowBegin; m < r.rowEnd; ++m) {
      T *sum = sumAt(r, m, r.columnBegin) - r.columnBegin;
      const Out *c = static_cast<const Out *>(p.c) + m * p.ldc;
      for (int64_t n = r.columnBegin; n < r.columnEnd; ++n) {
        T start = p.accumulate ? T(widen(c[n])) : T(0);
        sum[n] = bias ? start + T(widen(bias[n])) : start;
      }
    }
  }

  /// out[panel][k][i]: panels of P along the panel dimension, the last padded
  /// with zeros.
  template <int64_t P>
  static void pack(const Operand<In> &x, int64_t begin, int64_t end, int64_t k,
                   int64_t depth, T *out) {
    for (int64_t i = begin; i < end; i += P, out += P * depth) {
      const In *from = x.data + i * x.panelStep + k * x.depthStep;
      const int64_t count = minimum(P, end - i);
      if (x.panelStep == 1)
        packAlong<P>(from, x.depthStep, count, depth, out);
      else
        packAcross<P>(from, x.panelStep, count, depth, out);
    }
  }

  /// The panel dimension is contiguous in memory.
  template <int64_t P>
  static void packAlong(const In *from, int64_t depthStep, int64_t count,
                        int64_t depth, T *out) {
    constexpr int w = kLanes<T>;
    for (int64_t d = 0; d < depth; ++d, from += depthStep, out += P) {
      int64_t i = 0;
      if (P % w == 0)
        for (; i + w <= count; i += w)
          store<T>(out + i, WideLoad<T, In>::from(from + i));
      for (; i < P; ++i)
        out[i] = i < count ? T(widen(from[i])) : T(0);
    }
  }

  /// The summed dimension is contiguous in memory: transposes by squares.
  template <int64_t P>
  static void packAcross(const In *from, int64_t panelStep, int64_t count,
                         int64_t depth, T *out) {
    constexpr int w = kLanes<T>;
    Vec<T> square[w];
    for (int64_t i = 0; i < P; i += w)
      for (int64_t d = 0; d < depth; d += w) {
        loadSquare<T, In>(from + i * panelStep + d, panelStep, count - i,
                          depth - d, square);
        const int64_t height = minimum(w, depth - d);
        for (int64_t r = 0; r < height; ++r)
          storePart<P>(square[r], out + (d + r) * P + i, P - i);
      }
  }

  template <int64_t P> static void storePart(Vec<T> v, T *to, int64_t room) {
    if (P % kLanes<T> == 0 || room >= kLanes<T>)
      return store<T>(to, v);
    constexpr size_t rest = size_t(P % kLanes<T>) * sizeof(T);
    __builtin_memcpy(to, &v, rest);
  }

  void multiplyPacked(const GemmRegion &r, const GemmRegion &part,
                      int64_t depth) {
    const T *panel = packedB;
    for (int64_t n = part.columnBegin; n < part.columnEnd;
         n += kPanel, panel += kPanel * depth) {
      const int64_t columns = minimum(kPanel, part.columnEnd - n);
      const T *rows = packedA;
      for (int64_t m = part.rowBegin; m < part.rowEnd;
           m += kTileRows, rows += kTileRows * depth)
        multiplyTile({rows, 1, kTileRows}, panel, depth,
                     minimum(kTileRows, part.rowEnd - m), columns,
                     sumAt(r, m, n));
    }
  }

  /// Tiles at the right edge go through a full one.
  void multiplyTile(Strided<T> rows, const T *panel, int64_t depth, int64_t m,
                    int64_t columns, T *c) {
    const int64_t ldc = sumRow();
    if (columns == kPanel)
      return multiply<T>(m, kTileVectors, depth, rows, panel, kPanel, c, ldc,
                         Start::Old);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < kPanel; ++j)
        edge[i * kPanel + j] = j < columns ? c[i * ldc + j] : T(0);
    multiply<T>(m, kTileVectors, depth, rows, panel, kPanel, edge, kPanel,
                Start::Old);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < columns; ++j)
        c[i * ldc + j] = edge[i * kPanel + j];
  }

  const GemmProblem &p;
  const GemmRegion g;
  Scratch scratch;
  int64_t width;
  Operand<In> a, b;
  T *packedA, *packedB, *edge, *sums;
};

/// Calls use(BlockedGemm) of the problem's types.
template <typename Use>
static void withBlockedGemm(const GemmProblem &p, const GemmRegion &region,
                            void *memory, Use use) {
  if (p.dtypeAB == TSR_DTYPE_F64)
    return use(BlockedGemm<double, double, double>(p, region, memory));
  if (p.dtypeAB == TSR_DTYPE_F32)
    return use(BlockedGemm<float, float, float>(p, region, memory));
  if (p.dtypeC == TSR_DTYPE_F32)
    return use(BlockedGemm<float, Bf16, float>(p, region, memory));
  return use(BlockedGemm<float, Bf16, Bf16>(p, region, memory));
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_CPU_BLOCKEDGEMM_H
