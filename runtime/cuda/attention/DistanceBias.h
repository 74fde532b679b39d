//===- DistanceBias.h - Biases by distance on a GPU -------------*- C++ -*-===//
// TSR_ATTENTION_BUCKETS. A head's bias depends on query - key alone, so kernels
// read it from a vector by distance, which is made of the table before they
// start. Backward adds d_scores along diagonals, a vector per block of queries
// in the workspace, and then those by bucket: no atomics, one order.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_DISTANCEBIAS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_DISTANCEBIAS_H

#include "runtime/cuda/HostDevice.h"

#include <cstdint>

namespace tessera::cuda {

/// Buckets of one direction. The distances where they begin travel with the
/// kernel's parameters.
constexpr int kMostFarBuckets = 64;
/// Returns the queries that a block of backward owns, and keys of a tile that
/// it streams.
TSR_HOST_DEVICE constexpr int biasRows(bool bf16, int64_t headDim) {
  return bf16 && headDim > 64 ? 128 : 64;
}
constexpr int kBiasStream = 32;
/// Elements before and after the distances that occur: the last tiles of keys
/// and of queries reach there.
constexpr int kBiasMargin = 128;

struct DistanceBias {
  const float *table; /* [buckets, heads] */
  float *dTable;
  float *byDistance; /* [heads, row]: times log2(e) */
  float *sums;       /* [heads, parts, entries] */
  int buckets;       /* 0: no bias */
  int exact, perDirection;
  int beginOf[kMostFarBuckets]; /* first distance of bucket exact + i */
  int ahead, behind; /* from these distances on all are in one bucket */
  int row;           /* length of a vector by distance */
  int blockRows;     /* queries of a block of backward */
  bool causal;
  int64_t parts; /* blocks of backward of a head */

  /// Returns the bucket of a key `distance` positions before its query.
  TSR_HOST_DEVICE constexpr int bucketOf(int distance) const {
    const int first = !causal && distance < 0 ? perDirection : 0;
    const int far = distance < 0 ? (causal ? 0 : -distance) : distance;
    if (far < exact)
      return first + far;
    int bucket = exact;
    while (bucket + 1 < perDirection && far >= beginOf[bucket + 1 - exact])
      ++bucket;
    return first + bucket;
  }

  /// A block's vector of sums: an element for each diagonal of a tile that is
  /// `ahead` or further, one for each nearer distance, and again one for each
  /// diagonal that is `behind` or further.
  TSR_HOST_DEVICE constexpr int diagonals() const {
    return blockRows + kBiasStream - 1;
  }
  TSR_HOST_DEVICE constexpr int near() const { return ahead + behind - 1; }
  TSR_HOST_DEVICE constexpr int entries() const {
    return 2 * diagonals() + near();
  }
  /// Returns the entry that a diagonal at a distance adds to. Diagonals of a
  /// tile never meet.
  TSR_HOST_DEVICE constexpr int entryOf(int distance, int diagonal) const {
    if (distance <= -ahead)
      return diagonal;
    if (distance >= behind)
      return diagonals() + near() + diagonal;
    return diagonals() + distance + ahead - 1;
  }
  /// Returns a distance in the bucket of an entry.
  TSR_HOST_DEVICE constexpr int distanceOf(int entry) const {
    if (entry < diagonals())
      return -ahead;
    const int distance = entry - diagonals() - ahead + 1;
    return distance < behind ? distance : behind;
  }
  TSR_HOST_DEVICE float *sumsOf(int head, int64_t part) const {
    return sums + (int64_t(head) * parts + part) * entries();
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_DISTANCEBIAS_H
