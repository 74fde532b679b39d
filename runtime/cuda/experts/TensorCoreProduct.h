//===- TensorCoreProduct.h - Listed rows on tensor cores --------*- C++ -*-===//
// A block of 4 warps owns 128 x 128 of an expert's result, a warp 64 x 64: what
// it reads of shared memory per product is least that way. k streams in steps
// of 64 through three stages. bf16 operands, sums in f32 in order of k.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_TENSORCOREPRODUCT_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_TENSORCOREPRODUCT_H

#include "runtime/cuda/experts/Bf16Operand.h"
#include "runtime/cuda/experts/RowValues.h"

#include <type_traits>

namespace tessera::cuda {

/// Aligned: rows of both operands are whole pieces of 8 elements. Weight: the
/// right matrix's elements, bf16 or i8.
template <Product P, typename Out, bool Aligned, typename Weight = uint16_t>
struct TensorCoreProduct {
  static constexpr int kThreads = kProductThreads, kMinBlocks = 2;
  static constexpr int kStages = 3, kStageBytes = 2 * kOperandBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  static constexpr int kMTiles = 4, kNTiles = 8; /* tiles of a warp, 16 x 8
                                                    each */
  static constexpr int kWarpsAcross = kProductTile / (kNTiles * 8);
  using Left = Bf16Operand<kLeftIsByRows<P>, Aligned>;
  using Right = Bf16Operand<kRightIsByRows<P>, Aligned, Weight>;
  using Sum = Sums<kMTiles, kNTiles>;

  static Grid grid(const RoutedParams &p) {
    return productGrid<P>(p, kProductTile, kProductTile);
  }

  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *shared) {
    const ProductTile tile = productTile<P>(p, Exec::blockX(), Exec::blockY(),
                                            kProductTile, kProductTile);
    if (!tile.exists)
      return;
    Left left;
    Right right;
    left.template start<Exec>(leftOf<P, uint16_t>(p, tile.expert), tile.row);
    right.template start<Exec>(rightOf<P, Weight>(p, tile.expert), tile.column);
    const int steps = ceilDiv(tile.k, kProductDeep);
    // One group per step, empty where there is none.
    auto load = [&](int s) {
      if (s < steps) {
        unsigned char *stage = shared + s % kStages * kStageBytes;
        left.template load<Exec>(stage, s * kProductDeep);
        right.template load<Exec>(stage + kOperandBytes, s * kProductDeep);
        left.template seek<Exec>((s + 1) * kProductDeep);
        if constexpr (P == Product::GradWeight)
          right.seekAs(left);
        else
          right.template seek<Exec>((s + 1) * kProductDeep);
      }
      Exec::copyGroup();
    };
    Sum sums;
    clear(sums);
    TSR_UNROLL
    for (int s = 0; s < kStages - 1; ++s)
      load(s);
    TSR_NO_UNROLL
    for (int s = 0; s < steps; ++s) {
      // After this barrier stage s is there and s - 1 is not read any more.
      Exec::template copyWaitGroups<kStages - 2>();
      Exec::barrier();
      load(s + kStages - 1);
      multiply<Exec>(sums, shared + s % kStages * kStageBytes);
    }
    if constexpr (std::is_same_v<Weight, int8_t>)
      scale<Exec>(p, tile, sums);
    finish<Exec>(p, tile, sums, shared);
  }

private:
  /// Return the warp's first row and column in the tile.
  template <typename Exec> static TSR_DEVICE int warpRow() {
    return Exec::thread() / kWarp / kWarpsAcross * kMTiles * 16;
  }
  template <typename Exec> static TSR_DEVICE int warpColumn() {
    return Exec::thread() / kWarp % kWarpsAcross * kNTiles * 8;
  }

  template <typename Exec>
  static TSR_DEVICE void multiply(Sum &sums, const unsigned char *stage) {
    const auto atA = Left::template leftAddress<Exec>(stage, warpRow<Exec>());
    const auto atB = Right::template rightAddress<Exec>(stage + kOperandBytes,
                                                        warpColumn<Exec>());
    TSR_UNROLL
    for (int k = 0; k < kProductDeep / 16; ++k) {
      uint32_t a[kMTiles][4];
      Left::template left<Exec>(a, atA, k);
      TSR_UNROLL
      for (int n = 0; n < kNTiles; n += 2) {
        uint32_t b[4];
        Right::template right<Exec>(b, atB, n / 2, k);
        TSR_UNROLL
        for (int m = 0; m < kMTiles; ++m) {
          Exec::multiplyAdd(sums.at[m][n], a[m], b[0], b[1]);
          Exec::multiplyAdd(sums.at[m][n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  template <typename Exec>
  static TSR_DEVICE void scale(const RoutedParams &p, const ProductTile &tile,
                               Sum &sums) {
    const int first = tile.column + warpColumn<Exec>() +
                      accumulatorColumn(Exec::thread() % kWarp, 0);
    TSR_UNROLL
    for (int n = 0; n < kNTiles; ++n)
      TSR_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float factor = scaleOf<Exec>(p, tile, first + n * 8 + e);
      TSR_UNROLL
      for (int m = 0; m < kMTiles; ++m) {
        sums.at[m][n][e] *= factor;
        sums.at[m][n][2 + e] *= factor;
      }
    }
  }

  template <typename Exec>
  static TSR_DEVICE void finish(const RoutedParams &p, const ProductTile &tile,
                                const Sum &sums, unsigned char *shared) {
    if constexpr (std::is_same_v<Out, float>) {
      storeDirectly<Exec>(p, tile, sums);
    } else if (addsTo<P>(p)) { // rounds once
      storeDirectly<Exec>(p, tile, sums);
    } else {
      // The stages become the result's tile: rows are stored by whole pieces.
      Exec::barrier();
      storeSums<Exec>(sums, shared);
      Exec::barrier();
      storeTile<Exec>(p, tile, shared);
    }
  }

  /// Stores two neighbours at a time; four lanes fill a sector of 32 bytes.
  template <typename Exec>
  static TSR_DEVICE void storeDirectly(const RoutedParams &p,
                                       const ProductTile &tile,
                                       const Sum &sums) {
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row =
          tile.row + warpRow<Exec>() + m * 16 + accumulatorRow(lane, half * 2);
      if (row >= tile.m)
        continue;
      Out *to = resultRow<P, Out>(p, tile.expert, row);
      TSR_UNROLL
      for (int n = 0; n < kNTiles; ++n) {
        const int column = tile.column + warpColumn<Exec>() + n * 8 +
                           accumulatorColumn(lane, 0);
        const float two[2] = {sums.at[m][n][half * 2],
                              sums.at[m][n][half * 2 + 1]};
        const bool adds = addsTo<P>(p);
        if constexpr (std::is_same_v<Out, float>)
          if (p.resultAligned && column < tile.n && !adds) {
            *reinterpret_cast<Pair *>(to + column) = {two[0], two[1]};
            continue;
          }
        TSR_UNROLL
        for (int e = 0; e < 2; ++e)
          if (column + e < tile.n)
            to[column + e] = Narrow<Out>::from(
                adds ? widen(to[column + e]) + two[e] : two[e]);
      }
    }
  }

  struct alignas(8) Pair {
    float low, high;
  };

  template <typename Exec>
  static TSR_DEVICE void storeSums(const Sum &sums, unsigned char *shared) {
    const int lane = Exec::thread() % kWarp;
    TSR_UNROLL
    for (int m = 0; m < kMTiles; ++m)
      TSR_UNROLL
    for (int n = 0; n < kNTiles; ++n)
      TSR_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = warpRow<Exec>() + m * 16 + accumulatorRow(lane, half * 2);
      const int column =
          warpColumn<Exec>() + n * 8 + accumulatorColumn(lane, 0);
      Exec::storeShared(
          reinterpret_cast<uint32_t *>(
              shared + elementOffset<kProductTile>(row, column)),
          Exec::packBf16(sums.at[m][n][half * 2], sums.at[m][n][half * 2 + 1]));
    }
  }

  template <typename Exec>
  static TSR_DEVICE void storeTile(const RoutedParams &p,
                                   const ProductTile &tile,
                                   const unsigned char *shared) {
    constexpr int pieces = kProductTile / kBf16PerPiece;
    TSR_NO_UNROLL
    for (int i = Exec::thread(); i < kProductTile * pieces; i += kThreads) {
      const int row = tile.row + i / pieces;
      const int column = tile.column + i % pieces * kBf16PerPiece;
      if (row >= tile.m || column >= tile.n)
        continue;
      const Piece piece = Exec::loadShared(reinterpret_cast<const Piece *>(
          shared + pieceOffset<kProductTile>(i / pieces, i % pieces)));
      uint16_t *to = resultRow<P, uint16_t>(p, tile.expert, row) + column;
      if (p.resultAligned) {
        *reinterpret_cast<Piece *>(to) = piece;
        continue;
      }
      TSR_UNROLL
      for (int e = 0; e < kBf16PerPiece; ++e)
        if (column + e < tile.n)
          to[e] = uint16_t(piece.words[e / 2] >> (e % 2 * 16));
    }
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_TENSORCOREPRODUCT_H
