//===- RowValues.h - What a lane moves of a row -----------------*- C++ -*-===//
// A warp takes a row: eight elements per lane where rows are aligned, else one,
// so that neighbours read neighbours.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROWVALUES_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROWVALUES_H

#include "runtime/cuda/Element.h"
#include "runtime/cuda/attention/Fragment.h"
#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

/// N elements, widened.
template <int N> struct Values { float x[N]; };

constexpr int kVector = 8; /* elements; 16 bytes of bf16, 32 of f32 */

/// N = 8: 16-byte loads from aligned memory.
template <int N> TSR_DEVICE Values<N> load(const float *from) {
  Values<N> v;
  if constexpr (N == 1) {
    v.x[0] = *from;
  } else {
    TSR_UNROLL
    for (int i = 0; i < N / 4; ++i) {
      const Float4 four = reinterpret_cast<const Float4 *>(from)[i];
      TSR_UNROLL
      for (int e = 0; e < 4; ++e)
        v.x[i * 4 + e] = four.x[e];
    }
  }
  return v;
}
template <int N> TSR_DEVICE Values<N> load(const Bf16 *from) {
  Values<N> v;
  if constexpr (N == 1) {
    v.x[0] = widen(*from);
  } else {
    const Piece piece = *reinterpret_cast<const Piece *>(from);
    TSR_UNROLL
    for (int i = 0; i < N; ++i)
      v.x[i] = widen(Bf16{uint16_t(piece.words[i / 2] >> (i % 2 * 16))});
  }
  return v;
}

template <typename Exec, int N>
TSR_DEVICE void store(float *to, const Values<N> &v) {
  if constexpr (N == 1) {
    *to = v.x[0];
  } else {
    TSR_UNROLL
    for (int i = 0; i < N / 4; ++i)
      reinterpret_cast<Float4 *>(to)[i] = {
          {v.x[i * 4], v.x[i * 4 + 1], v.x[i * 4 + 2], v.x[i * 4 + 3]}};
  }
}
template <typename Exec, int N>
TSR_DEVICE void store(Bf16 *to, const Values<N> &v) {
  if constexpr (N == 1) {
    *to = Narrow<Bf16>::from(v.x[0]);
  } else {
    Piece piece;
    TSR_UNROLL
    for (int i = 0; i < N / 2; ++i)
      piece.words[i] = Exec::packBf16(v.x[2 * i], v.x[2 * i + 1]);
    *reinterpret_cast<Piece *>(to) = piece;
  }
}

/// A number of elements that the compiler knows.
template <int N> struct Width { static constexpr int value = N; };

/// body(column, Width) for the columns of this lane.
template <typename Exec, typename Body>
TSR_DEVICE void overColumns(int columns, bool aligned, const Body &body) {
  const int lane = Exec::thread() % kWarp;
  if (aligned) {
    for (int c = lane * kVector; c < columns; c += kWarp * kVector)
      body(c, Width<kVector>());
    return;
  }
  for (int c = lane; c < columns; c += kWarp)
    body(c, Width<1>());
}

/// 8 warps, a row each.
struct WarpPerRow {
  static constexpr int kThreads = 256, kMinBlocks = 4, kSharedBytes = 0;
  static constexpr int kWarps = kThreads / kWarp;

  static Grid gridOf(int64_t rows) {
    return {int((rows + kWarps - 1) / kWarps), 1, 1};
  }
  template <typename Exec> static TSR_DEVICE int64_t row() {
    return int64_t(Exec::blockX()) * kWarps + Exec::thread() / kWarp;
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROWVALUES_H
