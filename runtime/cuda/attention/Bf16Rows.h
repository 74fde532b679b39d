//===- Bf16Rows.h - Accumulators and rows of f32 ----------------*- C++ -*-===//
// Results that are made slice by slice stay f32 where operands are bf16. They
// go between a warp's registers and global memory, two elements at a time: four
// lanes move 32 bytes of a row.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BF16ROWS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BF16ROWS_H

#include "runtime/cuda/attention/Bf16Product.h"
#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

struct alignas(8) Pair {
  float x[2];
};

TSR_DEVICE Pair loadPair(const TileView<const float> &from, int row,
                         int column) {
  if (row >= from.rows || column >= from.columns)
    return {};
  const float *at = from.at(row, column);
  if (from.aligned)
    return *reinterpret_cast<const Pair *>(at);
  return {{at[0], column + 1 < from.columns ? at[1] : 0}};
}

TSR_DEVICE void storePair(const TileView<float> &to, int row, int column,
                          const Pair &pair) {
  if (row >= to.rows || column >= to.columns)
    return;
  float *at = to.at(row, column);
  if (to.aligned) {
    *reinterpret_cast<Pair *>(at) = pair;
    return;
  }
  at[0] = pair.x[0];
  if (column + 1 < to.columns)
    at[1] = pair.x[1];
}

/// sums = factor times the warp's rows, from `firstRow` on.
template <typename Exec, int Columns, int MTiles>
TSR_DEVICE void loadRows(Sums<MTiles, Columns / 8> &sums, float factor,
                         const TileView<const float> &from, int firstRow) {
  const int lane = Exec::thread() % kWarp;
  TSR_UNROLL
  for (int m = 0; m < MTiles; ++m)
    TSR_UNROLL
  for (int n = 0; n < Columns / 8; ++n)
    TSR_UNROLL
  for (int half = 0; half < 2; ++half) {
    const Pair pair =
        loadPair(from, firstRow + m * 16 + accumulatorRow(lane, half * 2),
                 n * 8 + accumulatorColumn(lane, 0));
    sums.at[m][n][half * 2] = pair.x[0] * factor;
    sums.at[m][n][half * 2 + 1] = pair.x[1] * factor;
  }
}

/// Stores the warp's rows = sums times a factor per row, plus what they held
/// where Adds.
template <typename Exec, int Columns, bool Adds, int MTiles>
TSR_DEVICE void storeRows(const Sums<MTiles, Columns / 8> &sums,
                          const float (&factor)[MTiles][2],
                          const TileView<float> &to, int firstRow) {
  const int lane = Exec::thread() % kWarp;
  const TileView<const float> old = {to.first, to.row, to.rows, to.columns,
                                     to.aligned};
  TSR_UNROLL
  for (int m = 0; m < MTiles; ++m)
    TSR_UNROLL
  for (int n = 0; n < Columns / 8; ++n)
    TSR_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = firstRow + m * 16 + accumulatorRow(lane, half * 2);
    const int column = n * 8 + accumulatorColumn(lane, 0);
    Pair pair = {};
    if (Adds)
      pair = loadPair(old, row, column);
    TSR_UNROLL
    for (int odd = 0; odd < 2; ++odd)
      pair.x[odd] += sums.at[m][n][half * 2 + odd] * factor[m][half];
    storePair(to, row, column, pair);
  }
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BF16ROWS_H
