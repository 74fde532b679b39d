//===- ProductTiles.h - Which tile of which expert --------------*- C++ -*-===//
// Products of listed rows. The grid is that of the worst case, all rows to
// every expert, for the host does not know the counts; blocks behind an
// expert's count end at once.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_PRODUCTTILES_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_PRODUCTTILES_H

#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/attention/TileView.h"
#include "runtime/cuda/experts/RoutedParams.h"

namespace tessera::cuda {

/// Product: c[m, n] = sum over k of a[list[m], k] w[n, k], or of w[k, n] if
/// transposed. GradWeight: dw[m, n] = sum of grad[list[k], m] a[list[k], n].
/// Of compact rows list[r] is r.
enum class Product { Plain, Transposed, GradWeight };

/// A matrix in memory. Row r is number list[r] of its rows, if it has a list.
template <typename T> struct Matrix {
  const T *data;
  const int *list;
  int rows, columns;

  /// Returns the number of a row; -1: there is no such row.
  TSR_DEVICE int number(int r) const {
    return r >= rows ? -1 : list ? list[r] : r;
  }
  TSR_DEVICE const T *at(int number, int column) const {
    return data + int64_t(number) * columns + column;
  }
};

/// True if k runs along the columns in memory, and false if along the rows.
template <Product P> constexpr bool kLeftIsByRows = P != Product::GradWeight;
template <Product P> constexpr bool kRightIsByRows = P == Product::Plain;

template <Product P, typename T>
TSR_DEVICE Matrix<T> leftOf(const RoutedParams &p, int expert) {
  const int width = P == Product::GradWeight ? p.columns : p.inner;
  return {static_cast<const T *>(p.first) + p.firstRow(expert) * width,
          p.listOf(expert), p.counts[expert], width};
}

template <Product P, typename T>
TSR_DEVICE Matrix<T> rightOf(const RoutedParams &p, int expert) {
  const T *data = static_cast<const T *>(p.second);
  if constexpr (P == Product::GradWeight)
    return {data + p.firstRow(expert) * p.inner, p.listOf(expert),
            p.counts[expert], p.inner};
  else
    return {data + int64_t(expert) * p.columns * p.inner, nullptr,
            P == Product::Plain ? p.columns : p.inner,
            P == Product::Plain ? p.inner : p.columns};
}

/// Returns whether the result holds a sum over earlier rounds.
template <Product P> TSR_DEVICE bool addsTo(const RoutedParams &p) {
  return P == Product::GradWeight && p.continues;
}

/// A block's part of an expert's result; m: rows of it that are computed.
struct ProductTile {
  int expert, row, column; /* the tile's first */
  int m, n, k;
  bool exists;
};

/// Returns the scale of a column's sums, if the right matrix is integers; any
/// number if there is no such column.
template <typename Exec>
TSR_DEVICE float scaleOf(const RoutedParams &p, const ProductTile &tile,
                         int column) {
  return column < tile.n
             ? Exec::loadConstant(p.scales + int64_t(tile.expert) * tile.n +
                                  column)
             : 0.0f;
}

/// Neighbouring blocks share columns of the right matrix, so that this many
/// tiles of rows stay in the cache while they walk over the columns.
constexpr int kTileGroup = 8;

template <Product P>
TSR_DEVICE ProductTile productTile(const RoutedParams &p, int block, int expert,
                                   int tileRows, int tileColumns) {
  const int count = p.counts[expert];
  ProductTile t = {};
  t.expert = expert;
  t.m = P == Product::GradWeight ? p.columns : count;
  t.n = P == Product::GradWeight ? p.inner : p.columns;
  t.k = P == Product::GradWeight ? count : p.inner;
  const int down = ceilDiv(t.m, tileRows), across = ceilDiv(t.n, tileColumns);
  t.exists = block < down * across;
  if constexpr (P == Product::GradWeight)
    t.exists &= count > 0 || !p.continues; // adds nothing to earlier rounds
  if (!t.exists)
    return t;
  const int group = block / (kTileGroup * across);
  const int within = block % (kTileGroup * across);
  const int left = down - group * kTileGroup;
  const int rows = left < kTileGroup ? left : kTileGroup;
  t.row = (group * kTileGroup + within % rows) * tileRows;
  t.column = within / rows * tileColumns;
  return t;
}

/// Returns the worst case. checkRouted knows that the number fits.
template <Product P>
Grid productGrid(const RoutedParams &p, int tileRows, int tileColumns) {
  const int m = P == Product::GradWeight ? p.columns : p.tokens;
  const int n = P == Product::GradWeight ? p.inner : p.columns;
  return {ceilDiv(m, tileRows) * ceilDiv(n, tileColumns), p.experts, 1};
}

/// Returns where row r of an expert's result begins.
template <Product P, typename T>
TSR_DEVICE T *resultRow(const RoutedParams &p, int expert, int r) {
  T *result = static_cast<T *>(p.result);
  if constexpr (P == Product::GradWeight)
    return result + (int64_t(expert) * p.columns + r) * p.inner;
  else
    return result + (p.firstRow(expert) + (p.lists ? p.listOf(expert)[r] : r)) *
                        p.columns;
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_PRODUCTTILES_H
