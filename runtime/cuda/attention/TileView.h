//===- TileView.h - Rows of a tensor that make a tile -----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_TILEVIEW_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_TILEVIEW_H

#include "runtime/cuda/attention/AttentionParams.h"

namespace tessera::cuda {

/// 16 bytes, moved at once.
struct alignas(16) Piece {
  uint32_t words[4];
};
struct alignas(16) Float4 {
  float x[4];
};

/// One head's columns of consecutive positions. Positions from `rows` on do not
/// exist; nor do columns from `columns` on. In shared memory they are zero.
template <typename T> struct TileView {
  T *first;
  int64_t row; /* stride */
  int rows, columns;
  bool aligned; /* 16-byte pieces may be moved, and are whole */

  TSR_DEVICE T *at(int r, int column) const {
    return first + int64_t(r) * row + column;
  }
};

/// Positions [s, end) of q, o, dO or dQ.
template <typename T>
TSR_DEVICE TileView<T> queryView(const AttentionParams &p,
                                 const TensorRows &tensor, int batch, int head,
                                 int s) {
  return {tensor.at<T>(p.queryRow(batch, s), int64_t(head) * p.headDim),
          tensor.row, p.seqQ - s, p.headDim, p.aligned};
}

/// Positions [s, end) of k, v, dK or dV.
template <typename T>
TSR_DEVICE TileView<T> keyView(const AttentionParams &p,
                               const TensorRows &tensor, int batch, int keyHead,
                               int s) {
  return {tensor.at<T>(p.keyRow(batch, s), int64_t(keyHead) * p.headDim),
          tensor.row, p.seqK - s, p.headDim, p.aligned};
}

/// Blocks along x of a grid, y, z; threads and dynamic shared memory come from
/// the kernel's type. A grid without blocks is not launched.
struct Grid {
  int x, y, z;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_TILEVIEW_H
