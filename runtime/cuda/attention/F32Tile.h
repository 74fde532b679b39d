//===- F32Tile.h - Tiles of f32 and their products --------------*- C++ -*-===//
// Exact f32: plain multiply-adds, no TF32. 128 threads form 16 x 8; thread
// (ty, tx) owns rows ty + 16 i and columns tx + 8 j of a 64 x 32 tile of
// scores, and columns 4 tx + 32 j + (0..3) of a 64 x head_dim tile of sums. A
// row of a tile has 4 floats more than columns: rows one apart are 4 banks
// apart, so that 8 lanes reading pieces of 16 bytes from 8 rows meet all 32
// banks once.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_F32TILE_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_F32TILE_H

#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

constexpr int kF32Threads = 128, kF32Rows = 64, kF32Stream = 32;
constexpr int kF32Across = 8;                           /* threads of a row */
constexpr int kF32Down = kF32Threads / kF32Across;      /* 16 */
constexpr int kF32RowsEach = kF32Rows / kF32Down;       /* 4 */
constexpr int kF32ScoresEach = kF32Stream / kF32Across; /* 4 */
constexpr int kF32PerPiece = 4;

TSR_HOST_DEVICE constexpr int f32Pitch(int columns) { return columns + 4; }
TSR_HOST_DEVICE constexpr int f32Row(int thread, int i) {
  return thread / kF32Across + kF32Down * i;
}
/// Returns the column of the tile of scores.
TSR_HOST_DEVICE constexpr int f32Column(int thread, int j) {
  return thread % kF32Across + kF32Across * j;
}
/// Returns the first of four sums.
TSR_HOST_DEVICE constexpr int f32SumColumn(int thread, int j) {
  return thread % kF32Across * 4 + kF32Across * 4 * j;
}

struct F32Scores {
  float at[kF32RowsEach][kF32ScoresEach];
};
template <int Columns> struct F32Sums {
  float at[kF32RowsEach][Columns / 32][4];
};

template <int Columns> TSR_DEVICE void clear(F32Sums<Columns> &sums) {
  TSR_UNROLL
  for (int i = 0; i < kF32RowsEach; ++i)
    TSR_UNROLL
  for (int j = 0; j < Columns / 32; ++j)
    TSR_UNROLL
  for (int e = 0; e < 4; ++e)
    sums.at[i][j][e] = 0;
}

/// Complete after Exec::copyWait() and a barrier.
template <typename Exec, int Rows, int Columns>
TSR_DEVICE void loadF32Tile(float *tile, const TileView<const float> &from) {
  constexpr int pieces = Columns / kF32PerPiece;
  TSR_NO_UNROLL
  for (int i = Exec::thread(); i < Rows * pieces; i += kF32Threads) {
    const int row = i / pieces, column = i % pieces * kF32PerPiece;
    float *to = tile + row * f32Pitch(Columns) + column;
    if (from.aligned) {
      const bool exists = row < from.rows && column < from.columns;
      Exec::template copyAsync<16>(
          to, exists ? from.at(row, column) : from.first, exists);
      continue;
    }
    TSR_UNROLL
    for (int e = 0; e < kF32PerPiece; ++e) {
      const bool exists = row < from.rows && column + e < from.columns;
      Exec::template copyAsync<4>(
          to + e, exists ? from.at(row, column + e) : from.first, exists);
    }
  }
}

template <typename Exec> TSR_DEVICE Float4 loadFloat4(const float *shared) {
  return Exec::loadShared(reinterpret_cast<const Float4 *>(shared));
}

/// s = A B^T: rows of A are rows of s, rows of B its columns.
template <typename Exec, int Columns>
TSR_DEVICE void productOfF32Rows(F32Scores &s, const float *a, const float *b) {
  constexpr int pitch = f32Pitch(Columns);
  const float *atA = a + f32Row(Exec::thread(), 0) * pitch;
  const float *atB = b + f32Column(Exec::thread(), 0) * pitch;
  s = {};
  TSR_NO_UNROLL
  for (int k = 0; k < Columns; k += 4) {
    Float4 left[kF32RowsEach], right[kF32ScoresEach];
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i)
      left[i] = loadFloat4<Exec>(atA + i * kF32Down * pitch + k);
    TSR_UNROLL
    for (int j = 0; j < kF32ScoresEach; ++j)
      right[j] = loadFloat4<Exec>(atB + j * kF32Across * pitch + k);
    TSR_UNROLL
    for (int e = 0; e < 4; ++e)
      TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i)
      TSR_UNROLL
    for (int j = 0; j < kF32ScoresEach; ++j)
      s.at[i][j] += left[i].x[e] * right[j].x[e];
  }
}

/// Lays scores out for addF32Product; a barrier must follow.
template <typename Exec>
TSR_DEVICE void storeScores(const F32Scores &s, float *tile) {
  TSR_UNROLL
  for (int i = 0; i < kF32RowsEach; ++i)
    TSR_UNROLL
  for (int j = 0; j < kF32ScoresEach; ++j)
    Exec::storeShared(tile + f32Row(Exec::thread(), i) * f32Pitch(kF32Stream) +
                          f32Column(Exec::thread(), j),
                      s.at[i][j]);
}

/// sums += scores B, both in shared memory.
template <typename Exec, int Columns>
TSR_DEVICE void addF32Product(F32Sums<Columns> &sums, const float *scores,
                              const float *b) {
  constexpr int pitch = f32Pitch(kF32Stream);
  const float *atA = scores + f32Row(Exec::thread(), 0) * pitch;
  const float *atB = b + f32SumColumn(Exec::thread(), 0);
  TSR_NO_UNROLL
  for (int k = 0; k < kF32Stream; k += 4) {
    Float4 left[kF32RowsEach];
    TSR_UNROLL
    for (int i = 0; i < kF32RowsEach; ++i)
      left[i] = loadFloat4<Exec>(atA + i * kF32Down * pitch + k);
    TSR_UNROLL
    for (int r = 0; r < 4; ++r)
      TSR_UNROLL
    for (int j = 0; j < Columns / 32; ++j) {
      const Float4 right =
          loadFloat4<Exec>(atB + (k + r) * f32Pitch(Columns) + j * 32);
      TSR_UNROLL
      for (int i = 0; i < kF32RowsEach; ++i)
        TSR_UNROLL
      for (int e = 0; e < 4; ++e)
        sums.at[i][j][e] += left[i].x[r] * right.x[e];
    }
  }
}

/// sums = factor times rows of global memory.
template <typename Exec, int Columns>
TSR_DEVICE void loadF32Sums(F32Sums<Columns> &sums, float factor,
                            const TileView<const float> &from) {
  TSR_UNROLL
  for (int i = 0; i < kF32RowsEach; ++i)
    TSR_UNROLL
  for (int j = 0; j < Columns / 32; ++j) {
    const int row = f32Row(Exec::thread(), i);
    const int column = f32SumColumn(Exec::thread(), j);
    TSR_UNROLL
    for (int e = 0; e < 4; ++e) {
      const bool exists = row < from.rows && column + e < from.columns;
      sums.at[i][j][e] = exists ? *from.at(row, column + e) * factor : 0;
    }
  }
}

TSR_DEVICE Float4 sumOf(const Float4 &a, const Float4 &b) {
  return {{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2], a.x[3] + b.x[3]}};
}

/// Writes the thread's sums times a factor per row; where Adds, adds them.
template <typename Exec, bool Adds, int Columns>
TSR_DEVICE void storeF32Sums(const F32Sums<Columns> &sums,
                             const float (&factor)[kF32RowsEach],
                             const TileView<float> &to) {
  TSR_UNROLL
  for (int i = 0; i < kF32RowsEach; ++i)
    TSR_UNROLL
  for (int j = 0; j < Columns / 32; ++j) {
    const int row = f32Row(Exec::thread(), i);
    const int column = f32SumColumn(Exec::thread(), j);
    Float4 out;
    TSR_UNROLL
    for (int e = 0; e < 4; ++e)
      out.x[e] = sums.at[i][j][e] * factor[i];
    if (row >= to.rows || column >= to.columns)
      continue;
    if (Adds && to.aligned)
      out = sumOf(out, *reinterpret_cast<const Float4 *>(to.at(row, column)));
    if (to.aligned) {
      *reinterpret_cast<Float4 *>(to.at(row, column)) = out;
      continue;
    }
    TSR_UNROLL
    for (int e = 0; e < 4; ++e)
      if (column + e < to.columns)
        *to.at(row, column + e) =
            Adds ? *to.at(row, column + e) + out.x[e] : out.x[e];
  }
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_F32TILE_H
