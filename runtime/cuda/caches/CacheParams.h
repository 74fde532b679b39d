//===- CacheParams.h - What kernels of caches get ---------------*- C++ -*-===//
// The problems of CacheProblem.h, reduced to what kernels compute with; they
// travel as kernel parameters.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_CACHEPARAMS_H
#define TESSERA_RUNTIME_CUDA_CACHES_CACHEPARAMS_H

#include "runtime/cuda/HostDevice.h"
#include "runtime/cuda/attention/DistanceBias.h"

#include <cstdint>

namespace tessera::cuda {

/// The slots and positions of rows. Kernels alone read them: a captured step is
/// launched again with others.
struct CacheRows {
  const int32_t *slotOf, *positionOf; /* for each row of all lanes */
  int64_t count;                      /* rows of all lanes */
  int rows, slots, places;            /* rows of a lane; slots of a lane; places
                                         of a slot */
  int deal, ordinal; /* this rank is number `ordinal` of the `deal` ranks that
                        share places */

  TSR_DEVICE bool isLive(int64_t row) const { return slotOf[row] >= 0; }
  /// Returns whether the place of a live row exists.
  TSR_DEVICE bool exists(int64_t row) const {
    return slotOf[row] < slots && positionOf[row] >= 0;
  }
  /// Returns where a live row's slot begins in a cache, in places.
  TSR_DEVICE int64_t slotStart(int64_t row) const {
    return (row / rows * slots + slotOf[row]) * int64_t(places);
  }
  /// Returns how many of the positions below `end` the rank has.
  TSR_DEVICE int heldBelow(int end) const {
    return end <= ordinal ? 0 : (end - ordinal + deal - 1) / deal;
  }
};

struct AppendParams {
  CacheRows of;
  void *cache;
  const void *from;
  /// 2-byte elements: of a place, and from row to row of what is appended.
  int64_t placeHalves, rowHalves;
  bool aligned; /* places and rows are whole pieces of 16 bytes, at such */
};

struct CachedAttentionParams {
  CacheRows of;
  const void *q, *keys, *values;
  void *o;
  /// [splits, rows, heads, headDim + 1]: the mean over a split's positions and
  /// the logarithm of its weight. Null: there is one split, which writes `o`.
  float *parts;
  int64_t row; /* elements from row to row of q */
  int heads, kvHeads, headDim, window;
  /// A row's positions are cut into `splits` parts of this length, the last
  /// ones empty where it has fewer. It depends on sizes alone.
  int splits, splitLength;
  float scaleLog2; /* scale * log2(e), for 2^x */
  bool weighted, aligned;
  DistanceBias bias; /* its table and buckets alone */

  TSR_HOST_DEVICE int group() const { return heads / kvHeads; }
};

/// [ranks, rows, columns + 1] partial means with the logarithms of their
/// weights.
struct MeansParams {
  const float *parts;
  void *means;
  int64_t rows;
  int ranks, columns;
  bool weighted;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_CACHEPARAMS_H
