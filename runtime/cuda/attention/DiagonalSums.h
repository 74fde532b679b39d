//===- DiagonalSums.h - The gradient of a bias, by distance -----*- C++ -*-===//
// Scores of one distance form a diagonal of a tile. A thread adds a diagonal's
// d_scores, from shared memory, to what the block has for their distance.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_DIAGONALSUMS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_DIAGONALSUMS_H

#include "runtime/cuda/attention/TileRange.h"
#include "runtime/cuda/attention/TileView.h"

namespace tessera::cuda {

/// Sums along diagonals for one block: Rows queries, in tiles of kBiasStream
/// keys laid out in shared memory with rows `Pitch` floats apart. There is at
/// least one thread per diagonal.
template <int Rows, int Pitch, int Threads> struct DiagonalSums {
  static constexpr int kDiagonals = Rows + kBiasStream - 1;
  static_assert(kDiagonals <= Threads, "a thread for every diagonal");

  float *sums;  /* the block's */
  int distance; /* from key 0 to the thread's diagonal; any without one */

  /// Clears the sums; a barrier must follow. `query`: the block's first.
  template <typename Exec>
  static TSR_DEVICE DiagonalSums start(const AttentionParams &p, int batch,
                                       int head, int query) {
    const int tiles = ceilDiv(p.seqQ, Rows);
    float *sums = p.bias.sumsOf(head, int64_t(batch) * tiles + query / Rows);
    for (int i = Exec::thread(); i < p.bias.entries(); i += Threads)
      sums[i] = 0;
    return {sums, p.queryStart + query + Exec::thread() - (kBiasStream - 1)};
  }

  /// Reads the sum that the tile from `key` on adds to: asked for early, since
  /// it comes from device memory. A barrier must have followed the last `add`.
  template <typename Exec>
  TSR_DEVICE float read(const AttentionParams &p, int key) const {
    return Exec::thread() < kDiagonals ? *entry<Exec>(p, key) : 0;
  }

  /// Adds to the sums; `old` is what `read` gave.
  template <typename Exec>
  TSR_DEVICE void add(const AttentionParams &p, int key, float old,
                      const float *tile) const {
    const int diagonal = Exec::thread();
    if (diagonal >= kDiagonals)
      return;
    TSR_UNROLL
    for (int column = 0; column < kBiasStream; ++column) {
      const int row = diagonal - (kBiasStream - 1) + column;
      if (row >= 0 && row < Rows)
        old += Exec::loadShared(tile + row * Pitch + column);
    }
    *entry<Exec>(p, key) = old;
  }

private:
  template <typename Exec>
  TSR_DEVICE float *entry(const AttentionParams &p, int key) const {
    return sums + p.bias.entryOf(distance - key, Exec::thread());
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_DIAGONALSUMS_H
