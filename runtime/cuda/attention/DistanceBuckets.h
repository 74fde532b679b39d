//===- DistanceBuckets.h - Where buckets begin ------------------*- C++ -*-===//
// On the host, by the library that the CPU's kernels use: the buckets are the
// same.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_DISTANCEBUCKETS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_DISTANCEBUCKETS_H

#include "runtime/cpu/PositionBucket.h"
#include "runtime/cuda/attention/DistanceBias.h"

#include <algorithm>

namespace tessera::cuda {

/// First distance of a far bucket, at most the one from which on all are in the
/// last. The float arithmetic is monotonous.
inline int64_t beginOf(const PositionBuckets &buckets, int64_t bucket) {
  int64_t low = buckets.exact(), high = buckets.maxDistance;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (buckets.at(middle) >= bucket)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Makes the tables that DistanceBias::bucketOf needs; there are at most
/// kMostFarBuckets far buckets in one direction. Distances are at most `most`.
inline DistanceBias distanceBuckets(const PositionBuckets &buckets,
                                    int64_t most) {
  DistanceBias bias = {};
  bias.buckets = int(buckets.buckets);
  bias.exact = int(buckets.exact());
  bias.perDirection = int(buckets.ofDirection());
  bias.causal = buckets.causal;
  for (int i = 0; i < bias.perDirection - bias.exact; ++i)
    bias.beginOf[i] = int(std::min(beginOf(buckets, bias.exact + i), most));
  return bias;
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_DISTANCEBUCKETS_H
