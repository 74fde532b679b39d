//===- DistanceBiasTest.cpp - Buckets and entries of distances ------------===//

#include "runtime/cpu/PositionBucket.h"
#include "runtime/cuda/attention/AttentionParams.h"
#include "tessera/abi.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

static DistanceBias biasOf(int64_t buckets, int64_t maxDistance, bool causal,
                           int64_t dtype = TSR_DTYPE_F32) {
  AttentionCall c{};
  c.batch = c.heads = c.kvHeads = 1;
  c.seqQ = c.seqK = c.queriesTotal = 1000;
  c.headDim = c.rowQ = c.rowK = c.rowV = c.rowO = 8;
  c.causal = causal;
  c.dtype = dtype;
  c.buckets = buckets;
  c.maxDistance = maxDistance;
  EXPECT_STREQ(checkAttention(c), nullptr);
  std::vector<std::byte> workspace(attentionWorkspace(c, /*backward=*/true));
  AttentionBuffers buffers{};
  buffers.workspace = workspace.data();
  return makeParams(c, buffers).bias;
}

template <typename Check> static void forEachBias(Check check) {
  for (bool causal : {false, true})
    for (int64_t buckets : {4, 8, 32, 128})
      for (int64_t maxDistance : {65, 128, 5000})
        check(biasOf(buckets, maxDistance, causal),
              PositionBuckets{buckets, maxDistance, causal});
}

/// The float arithmetic of the definition, which a GPU need not repeat.
TEST(DistanceBias, BucketsAreTheCpus) {
  forEachBias([](const DistanceBias &bias, const PositionBuckets &want) {
    for (int distance = -6000; distance <= 6000; ++distance)
      ASSERT_EQ(bias.bucketOf(distance), want.at(distance))
          << distance << " of " << want.buckets << " to " << want.maxDistance;
  });
}

/// An entry holds one bucket, and no two diagonals of a tile share one.
TEST(DistanceBias, EveryDiagonalHasAnEntryOfItsBucket) {
  forEachBias([](const DistanceBias &bias, const PositionBuckets &) {
    for (int first = -1300; first <= 1300; first += 32) {
      std::vector<bool> taken(size_t(bias.entries()));
      for (int diagonal = 0; diagonal < bias.diagonals(); ++diagonal) {
        const int distance = first + diagonal;
        const int entry = bias.entryOf(distance, diagonal);
        ASSERT_TRUE(entry >= 0 && entry < bias.entries());
        ASSERT_FALSE(taken[size_t(entry)]) << distance;
        taken[size_t(entry)] = true;
        // Causal: keys behind the query have no weight.
        if (bias.causal && distance < 0)
          continue;
        ASSERT_EQ(bias.bucketOf(bias.distanceOf(entry)),
                  bias.bucketOf(distance))
            << distance;
      }
    }
  });
}
