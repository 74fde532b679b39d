//===- F32Product.h - Products of listed rows in exact f32 ------*- C++ -*-===//
// Plain multiply-adds, no TF32. Both operands lie in shared memory with k
// outside, [k][64]; asynchronous copies of single elements put them there
// whatever their order in memory. 128 threads form 8 x 16; each owns rows
// 4 ty + (0..3) of both halves of 64 and columns 4 tx + (0..3). Integers of i8
// are widened on the way.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_F32PRODUCT_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_F32PRODUCT_H

#include "runtime/cuda/experts/ProductTiles.h"

#include <type_traits>

namespace tessera::cuda {

template <Product P, typename Weight = float> struct F32Product {
  static constexpr int kThreads = 128, kMinBlocks = 4;
  static constexpr int kTile = 64, kDeep = 32;
  static constexpr int kPitch = kTile + 4; /* floats; rows stay pieces */
  static constexpr int kOperand = kDeep * kPitch;
  static constexpr int kSharedBytes = 4 * kOperand * 4; /* two stages */
  static constexpr int kAcross = 16;

  static Grid grid(const RoutedParams &p) {
    return productGrid<P>(p, kTile, kTile);
  }

  struct Sums {
    float at[8][4];
  };

  template <typename Exec>
  static TSR_DEVICE void run(const RoutedParams &p, unsigned char *shared) {
    const ProductTile tile =
        productTile<P>(p, Exec::blockX(), Exec::blockY(), kTile, kTile);
    if (!tile.exists)
      return;
    float *stages = reinterpret_cast<float *>(shared);
    const Matrix<float> left = leftOf<P, float>(p, tile.expert);
    const Matrix<Weight> right = rightOf<P, Weight>(p, tile.expert);
    const int steps = ceilDiv(tile.k, kDeep);
    Sums sums = {};
    if (steps > 0)
      loadStage<Exec>(left, right, tile, 0, stages);
    TSR_NO_UNROLL
    for (int s = 0; s < steps; ++s) {
      // After this barrier stage s is there and s - 1 is not read any more.
      Exec::copyWait();
      Exec::barrier();
      if (s + 1 < steps)
        loadStage<Exec>(left, right, tile, (s + 1) * kDeep,
                        stages + (s + 1) % 2 * 2 * kOperand);
      multiply<Exec>(sums, stages + s % 2 * 2 * kOperand);
    }
    finish<Exec>(p, tile, sums);
  }

private:
  template <typename Exec>
  static TSR_DEVICE void
  loadStage(const Matrix<float> &left, const Matrix<Weight> &right,
            const ProductTile &tile, int k, float *stage) {
    loadOperand<Exec, kLeftIsByRows<P>>(left, tile.row, k, stage);
    loadOperand<Exec, kRightIsByRows<P>>(right, tile.column, k,
                                         stage + kOperand);
  }

  /// Loads elements [k, k + kDeep) of rows or columns [first, first + kTile).
  template <typename Exec, bool ByRows, typename T>
  static TSR_DEVICE void loadOperand(const Matrix<T> &from, int first, int k,
                                     float *to) {
    TSR_NO_UNROLL
    for (int i = Exec::thread(); i < kTile * kDeep; i += kThreads) {
      const int inTile = ByRows ? i / kDeep : i % kTile;
      const int deep = ByRows ? i % kDeep : i / kTile;
      const int number = from.number(ByRows ? first + inTile : k + deep);
      const int column = ByRows ? k + deep : first + inTile;
      const bool exists = number >= 0 && column < from.columns;
      float *at = to + deep * kPitch + inTile;
      if constexpr (std::is_same_v<T, float>)
        Exec::template copyAsync<4>(
            at, exists ? from.at(number, column) : from.data, exists);
      else
        Exec::storeShared(at, exists ? float(*from.at(number, column)) : 0.0f);
    }
  }

  template <typename Exec>
  static TSR_DEVICE void multiply(Sums &sums, const float *stage) {
    const float *left = stage + Exec::thread() / kAcross * 4;
    const float *right = stage + kOperand + Exec::thread() % kAcross * 4;
    TSR_NO_UNROLL
    for (int k = 0; k < kDeep; ++k) {
      const Float4 low = loadFour<Exec>(left + k * kPitch);
      const Float4 high = loadFour<Exec>(left + k * kPitch + kTile / 2);
      const Float4 b = loadFour<Exec>(right + k * kPitch);
      TSR_UNROLL
      for (int i = 0; i < 4; ++i)
        TSR_UNROLL
      for (int j = 0; j < 4; ++j) {
        sums.at[i][j] += low.x[i] * b.x[j];
        sums.at[4 + i][j] += high.x[i] * b.x[j];
      }
    }
  }

  template <typename Exec>
  static TSR_DEVICE Float4 loadFour(const float *shared) {
    return Exec::loadShared(reinterpret_cast<const Float4 *>(shared));
  }

  template <typename Exec>
  static TSR_DEVICE void finish(const RoutedParams &p, const ProductTile &tile,
                                const Sums &sums) {
    const int down = Exec::thread() / kAcross * 4;
    const int column = tile.column + Exec::thread() % kAcross * 4;
    float scales[4] = {1, 1, 1, 1};
    if constexpr (!std::is_same_v<Weight, float>)
      for (int j = 0; j < 4; ++j)
        scales[j] = scaleOf<Exec>(p, tile, column + j);
    TSR_UNROLL
    for (int i = 0; i < 8; ++i) {
      const int row = tile.row + down + i / 4 * (kTile / 2) + i % 4;
      if (row >= tile.m)
        continue;
      float *to = resultRow<P, float>(p, tile.expert, row);
      TSR_UNROLL
      for (int j = 0; j < 4; ++j)
        if (column + j < tile.n)
          to[column + j] = addsTo<P>(p) ? to[column + j] + sums.at[i][j]
                                        : sums.at[i][j] * scales[j];
    }
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_F32PRODUCT_H
