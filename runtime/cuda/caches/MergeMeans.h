//===- MergeMeans.h - Partial means become one ------------------*- C++ -*-===//
// Merges the means of ranks that share places, and those of the splits of an
// attention. Sums over parts are balanced trees, as on the CPU.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_MERGEMEANS_H
#define TESSERA_RUNTIME_CUDA_CACHES_MERGEMEANS_H

#include "runtime/cuda/attention/AttentionParams.h"
#include "runtime/cuda/caches/CacheParams.h"
#include "runtime/cuda/collectives/Pairs.h"
#include "runtime/cuda/experts/RowValues.h"

namespace tessera::cuda {

/// A warp merges a row. A part whose weight is 0 is not read.
template <typename Out> struct MergeMeans : WarpPerRow {
  static Grid grid(const MeansParams &p) { return gridOf(p.rows); }

  template <typename Exec>
  static TSR_DEVICE void run(const MeansParams &p, unsigned char *) {
    const int64_t row = WarpPerRow::row<Exec>();
    if (row >= p.rows)
      return;
    const float top = largestOf(p, row);
    Pairs<float, Add> shares;
    for (int k = 0; k < p.ranks; ++k)
      shares.add(shareOf<Exec>(p, k, row, top));
    const float total = shares.total();
    Out *to = static_cast<Out *>(p.means) + row * (p.columns + p.weighted);
    const int lane = Exec::thread() % kWarp;
    for (int column = lane; column < p.columns; column += kWarp) {
      const float sum = sumOf<Exec>(p, row, column, top);
      to[column] = Narrow<Out>::from(total == 0 ? sum : sum / total);
    }
    if (p.weighted && lane == 0)
      to[p.columns] = Narrow<Out>::from(Exec::log2(total) * kLn2 + top);
  }

private:
  static TSR_DEVICE const float *partOf(const MeansParams &p, int k,
                                        int64_t row) {
    return p.parts + (k * p.rows + row) * (p.columns + 1);
  }
  static TSR_DEVICE float weightOf(const MeansParams &p, int k, int64_t row) {
    return partOf(p, k, row)[p.columns];
  }

  /// Returns the logarithm of the largest weight; a NaN if there is one.
  static TSR_DEVICE float largestOf(const MeansParams &p, int64_t row) {
    float top = -__builtin_huge_valf();
    for (int k = 0; k < p.ranks; ++k) {
      const float weight = weightOf(p, k, row);
      if (!(weight <= top) && top == top)
        top = weight;
    }
    return top;
  }

  template <typename Exec>
  static TSR_DEVICE float shareOf(const MeansParams &p, int k, int64_t row,
                                  float top) {
    const float weight = weightOf(p, k, row);
    return weight == -__builtin_huge_valf()
               ? 0
               : Exec::exp2((weight - top) * kLog2E);
  }

  template <typename Exec>
  static TSR_DEVICE float sumOf(const MeansParams &p, int64_t row, int column,
                                float top) {
    Pairs<float, Add> terms;
    for (int k = 0; k < p.ranks; ++k) {
      const bool counts = weightOf(p, k, row) != -__builtin_huge_valf();
      terms.add(counts
                    ? shareOf<Exec>(p, k, row, top) * partOf(p, k, row)[column]
                    : 0);
    }
    return terms.total();
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_MERGEMEANS_H
