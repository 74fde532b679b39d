//===- Bf16Tile.h - Tiles of bf16 in shared memory --------------*- C++ -*-===//
// A tile has `Columns` (64 or 128) columns, head_dim padded with zeros,
// swizzled as Fragment.h says. Loads are asynchronous where rows are aligned;
// elsewhere (odd strides or head_dim) elements are gathered one by one.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BF16TILE_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BF16TILE_H

#include "runtime/cuda/attention/Bf16Product.h"
#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

/// Gathers the bits of up to 8 consecutive elements; the rest is zero.
TSR_DEVICE Piece gatherPiece(const uint16_t *from, int count) {
  Piece piece = {};
  TSR_UNROLL
  for (int i = 0; i < kBf16PerPiece; ++i)
    if (i < count)
      piece.words[i / 2] |= uint32_t(from[i]) << (i % 2 * 16);
  return piece;
}

/// Complete after Exec::copyWait() and a barrier.
template <typename Exec, int Rows, int Columns, int Threads>
TSR_DEVICE void loadTile(unsigned char *tile,
                         const TileView<const uint16_t> &from) {
  constexpr int pieces = Columns / kBf16PerPiece;
  static_assert(Threads % pieces == 0 && Rows % (Threads / pieces) == 0,
                "equal work for all threads");
  if (from.aligned) {
    // One pointer that advances, not one per row: registers are scarce.
    constexpr int rowsAtOnce = Threads / pieces;
    const int firstRow = Exec::thread() / pieces;
    const int piece = Exec::thread() % pieces, column = piece * kBf16PerPiece;
    const int rows = column < from.columns ? from.rows : 0;
    const uint16_t *at = from.at(firstRow, column);
    TSR_UNROLL
    for (int n = 0; n < Rows / rowsAtOnce; ++n) {
      const int row = firstRow + n * rowsAtOnce;
      Exec::template copyAsync<16>(tile + pieceOffset<Columns>(row, piece), at,
                                   row < rows);
      at += rowsAtOnce * from.row;
    }
    return;
  }
  TSR_NO_UNROLL
  for (int i = Exec::thread(); i < Rows * pieces; i += Threads) {
    const int row = i / pieces, column = i % pieces * kBf16PerPiece;
    const int count = row < from.rows ? from.columns - column : 0;
    Exec::storeShared(
        reinterpret_cast<Piece *>(tile + pieceOffset<Columns>(row, i % pieces)),
        gatherPiece(count > 0 ? from.at(row, column) : from.first, count));
  }
}

/// Writes what exists of a tile; a barrier must precede.
template <typename Exec, int Rows, int Columns, int Threads>
TSR_DEVICE void storeTile(const unsigned char *tile,
                          const TileView<uint16_t> &to) {
  constexpr int pieces = Columns / kBf16PerPiece;
  TSR_NO_UNROLL
  for (int i = Exec::thread(); i < Rows * pieces; i += Threads) {
    const int row = i / pieces, column = i % pieces * kBf16PerPiece;
    if (row >= to.rows || column >= to.columns)
      continue;
    const Piece piece = Exec::loadShared(reinterpret_cast<const Piece *>(
        tile + pieceOffset<Columns>(row, i % pieces)));
    uint16_t *at = to.at(row, column);
    if (to.aligned) {
      *reinterpret_cast<Piece *>(at) = piece;
      continue;
    }
    TSR_UNROLL
    for (int e = 0; e < kBf16PerPiece; ++e)
      if (column + e < to.columns)
        at[e] = uint16_t(piece.words[e / 2] >> (e % 2 * 16));
  }
}

/// Rounds a warp's accumulators, times `factor`, into its rows of a tile.
template <typename Exec, int Columns, int MTiles>
TSR_DEVICE void storeFragments(const Sums<MTiles, Columns / 8> &sums,
                               const float (&factor)[MTiles][2],
                               unsigned char *tile, int firstRow) {
  const int lane = Exec::thread() % kWarp;
  TSR_UNROLL
  for (int m = 0; m < MTiles; ++m)
    TSR_UNROLL
  for (int n = 0; n < Columns / 8; ++n)
    TSR_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = firstRow + m * 16 + accumulatorRow(lane, half * 2);
    const int column = n * 8 + accumulatorColumn(lane, 0);
    const float f = factor[m][half];
    Exec::storeShared(reinterpret_cast<uint32_t *>(
                          tile + elementOffset<Columns>(row, column)),
                      Exec::packBf16(sums.at[m][n][half * 2] * f,
                                     sums.at[m][n][half * 2 + 1] * f));
  }
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BF16TILE_H
