//===- Packing.h - Copies that convert, pad or transpose --------*- C++ -*-===//
// Between matrices in memory and the blocks that the register tiles read.
// Included only by the Target*.cpp files, see Simd.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_PACKING_H
#define TESSERA_RUNTIME_CPU_PACKING_H

#include "runtime/cpu/VectorMath.h"

#include <cstddef>

namespace tessera {
namespace TESSERA_CPU_TARGET {

/// Hands out 64-byte aligned pieces of scratch memory; with a null base it only
/// counts.
struct Scratch {
  unsigned char *base;
  size_t used = 0;

  template <typename T> T *take(int64_t count) {
    T *piece = base ? reinterpret_cast<T *>(base + used) : nullptr;
    used += (size_t(count) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
};

/// Rows of a matrix in the compute type, padded to whole vectors.
template <typename T> struct Rows {
  const T *data;
  int64_t row;
};

/// Copies `rows` rows of `columns` elements as T; the copy's row stride is
/// `columns` rounded up to whole vectors, padded with zeros. Worth it even
/// where nothing is converted: rows of a fused buffer lie a page or more apart
/// and fall into few sets of the cache (measured: 128 -> 143 GFLOP/s in
/// attention).
template <typename T, typename In>
static Rows<T> copyRows(const In *src, int64_t srcRow, int64_t rows,
                        int64_t columns, T *copy) {
  const int64_t padded = roundUp(columns, kLanes<T>);
  for (int64_t r = 0; r < rows; ++r) {
    const In *from = src + r * srcRow;
    T *to = copy + r * padded;
    int64_t c = 0;
    for (; c + kLanes<T> <= columns; c += kLanes<T>)
      store<T>(to + c, WideLoad<T, In>::from(from + c));
    for (; c < padded; ++c)
      to[c] = c < columns ? T(widen(from[c])) : T(0);
  }
  return {copy, padded};
}

/// Loads one vector of W columns from up to W rows, transposed; absent ones are
/// 0.
template <typename T, typename In>
static void loadSquare(const In *src, int64_t srcRow, int64_t rows,
                       int64_t columns, Vec<T> *out) {
  constexpr int w = kLanes<T>;
  for (int64_t r = 0; r < w; ++r) {
    out[r] = Vec<T>{};
    if (r >= rows)
      continue;
    if (columns >= w) {
      out[r] = WideLoad<T, In>::from(src + r * srcRow);
      continue;
    }
    T part[w] = {};
    for (int64_t c = 0; c < columns; ++c)
      part[c] = T(widen(src[r * srcRow + c]));
    out[r] = load<T>(part);
  }
  transpose<T>(out);
}

/// out[column][row] = factor * src[row][column], `outRow` elements per row of
/// out; rows are padded with zeros to whole vectors.
template <typename T, typename In>
static void packTransposed(const In *src, int64_t srcRow, int64_t rows,
                           int64_t columns, T factor, T *out, int64_t outRow) {
  constexpr int w = kLanes<T>;
  Vec<T> square[w];
  for (int64_t r = 0; r < rows; r += w)
    for (int64_t c = 0; c < columns; c += w) {
      loadSquare<T, In>(src + r * srcRow + c, srcRow, rows - r, columns - c,
                        square);
      const int64_t height = minimum(w, columns - c);
      for (int64_t i = 0; i < height; ++i)
        store<T>(out + (c + i) * outRow + r, square[i] * factor);
    }
}

/// Writes factor * src as Out.
template <typename T, typename Out>
static void writeRow(const T *src, int64_t columns, T factor, Out *dst) {
  int64_t c = 0;
  for (; c + kLanes<T> <= columns; c += kLanes<T>)
    NarrowStore<Out, T>::to(dst + c, load<T>(src + c) * factor);
  for (; c < columns; ++c)
    dst[c] = Narrow<Out, T>::from(src[c] * factor);
}

/// Computes dst += factor * src.
template <typename T>
static void addRow(const T *src, int64_t columns, T factor, T *dst) {
  int64_t c = 0;
  for (; c + kLanes<T> <= columns; c += kLanes<T>)
    store<T>(dst + c, load<T>(dst + c) + load<T>(src + c) * factor);
  for (; c < columns; ++c)
    dst[c] += src[c] * factor;
}

} // namespace TESSERA_CPU_TARGET
} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_PACKING_H
