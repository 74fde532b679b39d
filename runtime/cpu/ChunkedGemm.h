//===- ChunkedGemm.h - A matrix product as a tree of chunks -----*- C++ -*-===//
// C = sum of the products of `chunks` pieces of k, added as a balanced tree,
// + bias + C. A chunk is one chain over its k (BlockedGemm.h), so every element
// has the same bits in every region and for every m and n, and a tree of fewer
// chunks is a subtree of a larger one. Blocks of C are small enough for the
// sums that wait, one per level, to stay in cache.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CHUNKEDGEMM_H
#define TESSERA_RUNTIME_CPU_CHUNKEDGEMM_H

#include "runtime/cpu/BlockedGemm.h"

namespace tessera {
namespace TESSERA_CPU_TARGET {

template <typename T> class ChunkedGemm {
public:
  ChunkedGemm(const GemmProblem &problem, void *memory)
      : p(problem), scratch{static_cast<unsigned char *>(memory)} {
    int64_t levels = 1;
    for (int64_t chunks = p.chunks; chunks > 1; chunks /= 2)
      ++levels;
    rows = minimum(kBlockRows, p.m);
    columns = minimum(kBlockColumns, p.n);
    sums = scratch.take<T>(levels * rows * columns);
    one = part({0, rows, 0, columns}, 0, 0);
    blocked = scratch.base ? scratch.base + scratch.used : nullptr;
    scratch.used += BlockedGemm<T, T, T, T>(one, whole(one), nullptr).bytes();
  }

  size_t bytes() const { return scratch.used; }

  void run(const GemmRegion &g) {
    for (int64_t m = g.rowBegin; m < g.rowEnd; m += rows)
      for (int64_t n = g.columnBegin; n < g.columnEnd; n += columns)
        block({m, minimum(m + rows, g.rowEnd), n,
               minimum(n + columns, g.columnEnd)});
  }

private:
  static constexpr int64_t kBlockRows = 16 * kTileRows, kBlockColumns = 256;

  static GemmRegion whole(const GemmProblem &q) { return {0, q.m, 0, q.n}; }

  /// Multiplies one chunk's segment of k into the sum on top of `depth` others.
  GemmProblem part(const GemmRegion &r, int64_t k, int64_t depth) const {
    GemmProblem q = p;
    q.m = r.rowEnd - r.rowBegin;
    q.n = r.columnEnd - r.columnBegin;
    q.k = p.k / (p.chunks * p.outer);
    q.a = static_cast<const T *>(p.a) +
          (p.transA ? k * p.lda + r.rowBegin : r.rowBegin * p.lda + k);
    q.b = static_cast<const T *>(p.b) +
          (p.transB ? r.columnBegin * p.ldb + k : k * p.ldb + r.columnBegin);
    q.c = sums + depth * rows * columns;
    q.ldc = q.n;
    q.bias = nullptr;
    q.accumulate = false;
    return q;
  }

  void block(const GemmRegion &r) {
    const int64_t inner = p.k / (p.chunks * p.outer);
    int64_t depth = 0;
    for (int64_t chunk = 0; chunk < p.chunks; ++chunk, ++depth) {
      for (int64_t o = 0; o < p.outer; ++o) {
        GemmProblem q = part(r, (o * p.chunks + chunk) * inner, depth);
        q.accumulate = o > 0;
        BlockedGemm<T, T, T, T>(q, whole(q), blocked).run();
      }
      for (int64_t pairs = chunk + 1; pairs % 2 == 0; pairs /= 2, --depth)
        addTop(r, depth);
    }
    finish(r);
  }

  /// sums[depth - 1] += sums[depth].
  void addTop(const GemmRegion &r, int64_t depth) {
    const int64_t size =
        (r.rowEnd - r.rowBegin) * (r.columnEnd - r.columnBegin);
    T *right = sums + depth * rows * columns, *left = right - rows * columns;
    for (int64_t i = 0; i < size; ++i)
      left[i] = left[i] + right[i];
  }

  void finish(const GemmRegion &r) {
    const T *bias = static_cast<const T *>(p.bias), *sum = sums;
    for (int64_t m = r.rowBegin; m < r.rowEnd; ++m)
      for (int64_t n = r.columnBegin; n < r.columnEnd; ++n, ++sum) {
        T &c = static_cast<T *>(p.c)[m * p.ldc + n];
        T value = bias ? *sum + bias[n] : *sum;
        c = p.accumulate ? c + value : value;
      }
  }

  const GemmProblem &p;
  Scratch scratch;
  GemmProblem one;
  int64_t rows, columns;
  T *sums;
  unsigned char *blocked;
};

static size_t chunkedScratch(const GemmProblem &p) {
  return p.dtypeAB == TSR_DTYPE_F64 ? ChunkedGemm<double>(p, nullptr).bytes()
                                    : ChunkedGemm<float>(p, nullptr).bytes();
}

static void chunkedGemm(const GemmProblem &p, const GemmRegion &region,
                        void *memory) {
  if (p.dtypeAB == TSR_DTYPE_F64)
    return ChunkedGemm<double>(p, memory).run(region);
  ChunkedGemm<float>(p, memory).run(region);
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CHUNKEDGEMM_H
