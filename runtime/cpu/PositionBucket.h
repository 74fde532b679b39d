//===- PositionBucket.h - Buckets of distances ------------------*- C++ -*-===//
// The formula of TSR_ATTENTION_BUCKETS, for all devices: the float arithmetic
// decides where a bucket begins, so it is done by the host's library alone.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_POSITIONBUCKET_H
#define TESSERA_RUNTIME_CPU_POSITIONBUCKET_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace tessera {

/// Requires at least one exact bucket, and maxDistance after it.
struct PositionBuckets {
  int64_t buckets, maxDistance;
  bool causal;

  /// Returns the buckets of one direction; those of them that hold one distance
  /// each.
  int64_t ofDirection() const { return causal ? buckets : buckets / 2; }
  int64_t exact() const { return ofDirection() / 2; }

  /// Returns the bucket of a key `behind` positions before its query.
  int64_t at(int64_t behind) const {
    const int64_t count = ofDirection();
    const int64_t first = !causal && behind < 0 ? count : 0;
    const int64_t distance =
        causal ? std::max<int64_t>(behind, 0) : std::abs(behind);
    if (distance < exact())
      return first + distance;
    // In f32, as the published models were trained.
    const float share = std::log(float(distance) / float(exact())) /
                        float(std::log(double(maxDistance) / double(exact())));
    const int64_t far = int64_t(share * float(count - exact()));
    return first + std::min(count - 1, exact() + far);
  }
};

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_POSITIONBUCKET_H
