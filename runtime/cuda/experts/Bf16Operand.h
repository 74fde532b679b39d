//===- Bf16Operand.h - An operand's tiles, from memory to lanes -*- C++ -*-===//
// 128 rows or columns of a matrix by 64 of k, streamed through shared memory.
// Where k runs along the matrix's rows in memory a tile is [128][64]; else it
// is [64][128] and ldmatrix transposes. Either has 16 KiB and Fragment.h's
// swizzle. Integers of i8 become bf16 on the way, which is exact.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_BF16OPERAND_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_BF16OPERAND_H

#include "runtime/cuda/Element.h"
#include "runtime/cuda/attention/Bf16Tile.h"
#include "runtime/cuda/experts/ProductTiles.h"

#include <type_traits>

namespace tessera::cuda {

constexpr int kProductThreads = 128;
constexpr int kProductTile = 128, kProductDeep = 64;
constexpr int kOperandBytes = kProductTile * kProductDeep * 2;

/// Exact: bf16 has all integers up to 256.
TSR_DEVICE uint32_t bf16OfInteger(int8_t value) {
  return Narrow<Bf16>::from(float(value)).bits;
}
/// Gathers eight integers, of which `count` exist.
TSR_DEVICE Piece gatherPiece(const int8_t *from, int count) {
  Piece piece = {};
  TSR_UNROLL
  for (int i = 0; i < kBf16PerPiece; ++i)
    if (i < count)
      piece.words[i / 2] |= bf16OfInteger(from[i]) << (i % 2 * 16);
  return piece;
}
/// Widens eight integers that begin at a multiple of 8 bytes.
TSR_DEVICE Piece widenPiece(const int8_t *from) {
  struct alignas(8) Eight {
    int8_t at[kBf16PerPiece];
  };
  const Eight eight = *reinterpret_cast<const Eight *>(from);
  Piece piece = {};
  TSR_UNROLL
  for (int i = 0; i < kBf16PerPiece; ++i)
    piece.words[i / 2] |= bf16OfInteger(eight.at[i]) << (i % 2 * 16);
  return piece;
}

/// The part of each tile that a thread copies: a piece of `kEach` rows.
/// Aligned: rows are whole pieces, which are copied asynchronously unless they
/// are integers; else elements are gathered.
template <bool ByRows, bool Aligned, typename Element = uint16_t>
struct Bf16Operand {
  static constexpr int kRows = ByRows ? kProductTile : kProductDeep;
  static constexpr int kColumns = ByRows ? kProductDeep : kProductTile;
  static constexpr int kPieces = kColumns / kBf16PerPiece;
  static constexpr int kRowsAtOnce = kProductThreads / kPieces;
  static constexpr int kEach = kRows / kRowsAtOnce;
  static constexpr bool kCopies = std::is_same_v<Element, uint16_t>;

  Matrix<Element> from;
  int first; /* row or column of the matrix, the tile's first beside k */
  int numbers[kEach];

  template <typename Exec>
  TSR_DEVICE void start(const Matrix<Element> &matrix, int tileFirst) {
    from = matrix;
    first = tileFirst;
    find<Exec>(ByRows ? first : 0);
  }

  /// Copies the tile at k, whose rows have been found. Complete when its group
  /// has arrived, after a barrier.
  template <typename Exec> TSR_DEVICE void load(unsigned char *tile, int k) {
    const int row = Exec::thread() / kPieces, piece = Exec::thread() % kPieces;
    const int column = (ByRows ? k : first) + piece * kBf16PerPiece;
    TSR_UNROLL
    for (int i = 0; i < kEach; ++i) {
      unsigned char *to =
          tile + pieceOffset<kColumns>(row + i * kRowsAtOnce, piece);
      const bool exists = numbers[i] >= 0 && column < from.columns;
      // The address is not read if nothing exists there.
      const Element *at = from.at(numbers[i], column);
      if constexpr (Aligned && kCopies)
        Exec::template copyAsync<16>(to, at, exists);
      else if constexpr (Aligned)
        Exec::storeShared(reinterpret_cast<Piece *>(to),
                          exists ? widenPiece(at) : Piece{});
      else
        Exec::storeShared(reinterpret_cast<Piece *>(to),
                          gatherPiece(at, exists ? from.columns - column : 0));
    }
  }

  /// Finds the rows of the tile at k, a step ahead: products fill the wait.
  template <typename Exec> TSR_DEVICE void seek(int k) {
    if (!ByRows)
      find<Exec>(k);
  }
  /// Seeks the same rows as another operand that has the same list.
  template <typename Other> TSR_DEVICE void seekAs(const Other &other) {
    TSR_UNROLL
    for (int i = 0; i < kEach; ++i)
      numbers[i] = other.numbers[i];
  }

  /// Loads A operands of the 16 x 16 blocks at `at` and below, at step `k` of
  /// 16.
  template <typename Exec, int MTiles>
  static TSR_DEVICE void left(uint32_t (&out)[MTiles][4],
                              typename Exec::Address at, int k) {
    TSR_UNROLL
    for (int m = 0; m < MTiles; ++m)
      if constexpr (ByRows)
        Exec::loadMatrices(out[m], blockRight(at, k) + m * 16 * kColumns * 2);
      else
        Exec::loadMatricesTransposed(out[m],
                                     blockRight(at, m) + k * 16 * kColumns * 2);
  }
  /// Loads B operands of 16 columns, the n-th from `at` on, at step `k` of 16.
  template <typename Exec>
  static TSR_DEVICE void right(uint32_t (&out)[4], typename Exec::Address at,
                               int n, int k) {
    if constexpr (ByRows)
      Exec::loadMatrices(out, blockRight(at, k) + n * 16 * kColumns * 2);
    else
      Exec::loadMatricesTransposed(out,
                                   blockRight(at, n) + k * 16 * kColumns * 2);
  }

  /// Returns the address in the left tile for the warp whose part begins at
  /// `begin`.
  template <typename Exec>
  static TSR_DEVICE typename Exec::Address
  leftAddress(const unsigned char *tile, int begin) {
    const int lane = Exec::thread() % kWarp;
    return address<Exec>(tile, begin,
                         ByRows ? rowsFirst(lane) : columnsFirst(lane));
  }
  template <typename Exec>
  static TSR_DEVICE typename Exec::Address
  rightAddress(const unsigned char *tile, int begin) {
    const int lane = Exec::thread() % kWarp;
    return address<Exec>(tile, begin,
                         ByRows ? columnsFirst(lane) : rowsFirst(lane));
  }

private:
  template <typename Exec> TSR_DEVICE void find(int r) {
    const int row = r + Exec::thread() / kPieces;
    TSR_UNROLL
    for (int i = 0; i < kEach; ++i)
      numbers[i] = from.number(row + i * kRowsAtOnce);
  }

  /// A block that is right of another is at an exclusive or of its address.
  template <typename Exec>
  static TSR_DEVICE typename Exec::Address
  address(const unsigned char *tile, int begin, const BlockRow &lane) {
    const auto at =
        blockAddress<Exec, kColumns>(tile, ByRows ? begin : 0, lane);
    return ByRows ? at : blockRight(at, begin / 16);
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_BF16OPERAND_H
