//===- Fragment.h - Which lane holds what -----------------------*- C++ -*-===//
// Layouts of mma.m16n8k16 with bf16 operands and of ldmatrix (PTX ISA, "Matrix
// Fragments for mma.m16n8k16 with floating point type" and "Warp-level matrix
// load instruction: ldmatrix"), and the swizzle of shared memory that lets
// ldmatrix read eight rows at once from different banks.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_FRAGMENT_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_FRAGMENT_H

#include "runtime/cuda/HostDevice.h"

namespace tessera::cuda {

constexpr int kWarp = 32;
constexpr int kPieceBytes = 16; /* cp.async and ldmatrix move so many at once */
constexpr int kBf16PerPiece = 8;

/// Returns the row of element e (0..3) of a lane's accumulator of a 16 x 8
/// product.
TSR_HOST_DEVICE constexpr int accumulatorRow(int lane, int e) {
  return lane / 4 + (e / 2) * 8;
}
TSR_HOST_DEVICE constexpr int accumulatorColumn(int lane, int e) {
  return lane % 4 * 2 + e % 2;
}

/// Returns the byte offset of 16-byte piece `piece` of row `row` in a tile of
/// bf16 with `Columns` columns. Rows are 128 or 256 bytes, so without the
/// exclusive or a piece would lie in the same four banks in every row.
template <int Columns>
TSR_HOST_DEVICE constexpr int pieceOffset(int row, int piece) {
  static_assert(Columns == 64 || Columns == 128, "a row is 8 or 16 pieces");
  return (row * (Columns / kBf16PerPiece) + (piece ^ (row & 7))) * kPieceBytes;
}

/// Address or offset of the same row `blocks` blocks of 16 columns to the right
/// of the tile's first, `at`: those columns are bits 5 to 7 of the piece's
/// offset, zero before the swizzle. A tile must start at a multiple of
/// kTileAlignment.
constexpr int kTileAlignment = 256;
template <typename Address>
TSR_HOST_DEVICE constexpr Address blockRight(Address at, int blocks) {
  return at ^ Address(blocks * 2 * kPieceBytes);
}

/// Returns the byte offset of element (row, column).
template <int Columns>
TSR_HOST_DEVICE constexpr int elementOffset(int row, int column) {
  return pieceOffset<Columns>(row, column / kBf16PerPiece) +
         column % kBf16PerPiece * 2;
}

/// The place in a 16 x 16 block that a lane points ldmatrix.x4 at: lanes
/// 8i..8i+7 give the rows of matrix i.
struct BlockRow {
  int row, piece;
};

/// Matrices in the order (0,0), (8,0), (0,8), (8,8) of (row, column). Without
/// .trans that is the A operand of the block; with .trans the four registers
/// are the B operands {b0, b1} of its columns 0-7, then of 8-15, where the
/// block is stored [k][n].
TSR_HOST_DEVICE constexpr BlockRow rowsFirst(int lane) {
  return {lane % 16, lane / 16};
}

/// Matrices in the order (0,0), (0,8), (8,0), (8,8): without .trans the B
/// operands {b0, b1} of rows 0-7, then of 8-15, of a block stored [n][k].
TSR_HOST_DEVICE constexpr BlockRow columnsFirst(int lane) {
  return {lane / 16 * 8 + lane % 8, lane / 8 % 2};
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_FRAGMENT_H
