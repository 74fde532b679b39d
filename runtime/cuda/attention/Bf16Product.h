//===- Bf16Product.h - A warp's products on the tensor cores ----*- C++ -*-===//
// Both kinds of product in attention. Probabilities go from accumulators to
// operands in registers: two adjacent accumulators of 16 x 8 hold exactly the
// lane's elements of an A operand of 16 x 16 (Dao 2023, section 3.3; PTX ISA,
// "Matrix Fragments for mma.m16n8k16").
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_BF16PRODUCT_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_BF16PRODUCT_H

#include "runtime/cuda/attention/Fragment.h"

#include <cstdint>

namespace tessera::cuda {

/// Accumulators of 16 MTiles x 8 NTiles.
template <int MTiles, int NTiles> struct Sums { float at[MTiles][NTiles][4]; };

/// A operands of 16 MTiles x 16 KTiles.
template <int MTiles, int KTiles> struct Operand {
  uint32_t at[MTiles][KTiles][4];
};

template <int MTiles, int NTiles>
TSR_DEVICE void clear(Sums<MTiles, NTiles> &sums) {
  TSR_UNROLL
  for (int m = 0; m < MTiles; ++m)
    TSR_UNROLL
  for (int n = 0; n < NTiles; ++n)
    TSR_UNROLL
  for (int e = 0; e < 4; ++e)
    sums.at[m][n][e] = 0;
}

/// Address of a lane's row in the block at (row, 0) of a tile. Blocks to the
/// right are at exclusive ors of it, blocks below at sums: blockRight, then 16
/// rows.
template <typename Exec, int Columns>
TSR_DEVICE typename Exec::Address blockAddress(const unsigned char *tile,
                                               int row, const BlockRow &lane) {
  return Exec::address(tile + pieceOffset<Columns>(row + lane.row, lane.piece));
}

/// sums = A B^T of two tiles of `Columns` columns: the warp's rows of A from
/// `firstRow` on, all rows of B.
template <typename Exec, int Columns, int MTiles, int NTiles>
TSR_DEVICE void productOfRows(Sums<MTiles, NTiles> &sums,
                              const unsigned char *a, int firstRow,
                              const unsigned char *b) {
  static_assert(NTiles % 2 == 0, "ldmatrix.x4 feeds two products");
  constexpr int blockBytes = 16 * Columns * 2;
  const int lane = Exec::thread() % kWarp;
  const auto atA = blockAddress<Exec, Columns>(a, firstRow, rowsFirst(lane));
  const auto atB = blockAddress<Exec, Columns>(b, 0, columnsFirst(lane));
  clear(sums);
  TSR_UNROLL
  for (int k = 0; k < Columns / 16; ++k) {
    uint32_t left[MTiles][4];
    TSR_UNROLL
    for (int m = 0; m < MTiles; ++m)
      Exec::loadMatrices(left[m], blockRight(atA, k) + m * blockBytes);
    TSR_UNROLL
    for (int n = 0; n < NTiles; n += 2) {
      uint32_t right[4];
      Exec::loadMatrices(right, blockRight(atB, k) + n / 2 * blockBytes);
      TSR_UNROLL
      for (int m = 0; m < MTiles; ++m) {
        Exec::multiplyAdd(sums.at[m][n], left[m], right[0], right[1]);
        Exec::multiplyAdd(sums.at[m][n + 1], left[m], right[2], right[3]);
      }
    }
  }
}

/// sums += A B: A in registers, its columns are the rows of tile B.
template <typename Exec, int Columns, int MTiles, int KTiles>
TSR_DEVICE void addProduct(Sums<MTiles, Columns / 8> &sums,
                           const Operand<MTiles, KTiles> &a,
                           const unsigned char *b) {
  constexpr int blockBytes = 16 * Columns * 2;
  const auto atB =
      blockAddress<Exec, Columns>(b, 0, rowsFirst(Exec::thread() % kWarp));
  TSR_UNROLL
  for (int k = 0; k < KTiles; ++k)
    TSR_UNROLL
  for (int n = 0; n < Columns / 8; n += 2) {
    uint32_t right[4];
    Exec::loadMatricesTransposed(right,
                                 blockRight(atB, n / 2) + k * blockBytes);
    TSR_UNROLL
    for (int m = 0; m < MTiles; ++m) {
      Exec::multiplyAdd(sums.at[m][n], a.at[m][k], right[0], right[1]);
      Exec::multiplyAdd(sums.at[m][n + 1], a.at[m][k], right[2], right[3]);
    }
  }
}

/// Rounds accumulators of 16 columns each to A operands.
template <typename Exec, int MTiles, int NTiles>
TSR_DEVICE void toOperand(const Sums<MTiles, NTiles> &sums,
                          Operand<MTiles, NTiles / 2> &operand) {
  TSR_UNROLL
  for (int m = 0; m < MTiles; ++m)
    TSR_UNROLL
  for (int n = 0; n < NTiles; ++n)
    TSR_UNROLL
  for (int half = 0; half < 2; ++half)
    operand.at[m][n / 2][n % 2 * 2 + half] =
        Exec::packBf16(sums.at[m][n][half * 2], sums.at[m][n][half * 2 + 1]);
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_BF16PRODUCT_H
