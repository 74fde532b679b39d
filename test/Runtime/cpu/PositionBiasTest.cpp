//===- PositionBiasTest.cpp - buckets of distances ------------------------===//
// The first distance of every bucket is what transformers 5.23 computes
// (T5Attention._relative_position_bucket, in f32).

#include "runtime/cpu/PositionBias.h"
#include "runtime/cpu/CpuEntries.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <gtest/gtest.h>
#include <vector>

using namespace tessera;

static AttentionProblem problem(int64_t buckets, int64_t maxDistance,
                                bool causal) {
  AttentionProblem p{};
  p.buckets = buckets;
  p.maxDistance = maxDistance;
  p.causal = causal;
  return p;
}

/// Returns the first distances of the buckets of keys behind the query.
static std::vector<int64_t> starts(const AttentionProblem &p) {
  std::vector<int64_t> found;
  for (int64_t behind = 0; behind < 300; ++behind) {
    int64_t bucket = positionBucket(p, behind);
    if (bucket == int64_t(found.size()))
      found.push_back(behind);
    EXPECT_EQ(bucket + 1, int64_t(found.size())) << behind;
  }
  return found;
}

TEST(PositionBias, BucketsOfBothDirectionsAreThoseOfTransformers) {
  EXPECT_EQ(starts(problem(32, 128, false)),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46,
                                  64, 91}));
  EXPECT_EQ(starts(problem(32, 100, false)),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 21, 29, 39,
                                  54, 73}));
  EXPECT_EQ(starts(problem(10, 20, false)),
            (std::vector<int64_t>{0, 1, 2, 5, 10}));
  for (int64_t ahead = 1; ahead < 300; ++ahead)
    EXPECT_EQ(positionBucket(problem(32, 128, false), -ahead),
              positionBucket(problem(32, 128, false), ahead) + 16);
}

TEST(PositionBias, CausalBucketsAreThoseOfTransformers) {
  EXPECT_EQ(starts(problem(32, 128, true)),
            (std::vector<int64_t>{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                  11, 12, 13, 14, 15, 16, 19, 21, 24, 27, 31,
                                  35, 40, 46, 52, 59, 67, 77, 87, 99, 113}));
  EXPECT_EQ(starts(problem(10, 20, true)),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 7, 9, 12, 16}));
}

TEST(PositionBias, RefusesBucketsThatHoldNoDistance) {
  int64_t args[TSR_ATTENTION_ARGS] = {1, 1, 1, 4, 4, 8, 8, 8, 8, 8};
  args[TSR_ATTENTION_BUCKETS] = 32;
  args[TSR_ATTENTION_MAX_DISTANCE] = 8;
  std::string error;
  EXPECT_EQ(cpuAttention(1, nullptr, args, &error), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(error, "attention: 32 buckets to distance 8 are not enough buckets "
                   "or too near");
}
