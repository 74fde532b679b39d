//===- ShardingTest.cpp - index maps --------------------------------------===//
#include "runtime/artifact/Sharding.h"

#include <gtest/gtest.h>
#include <set>

using namespace tessera;

namespace {

TensorInfo tensorOf(std::vector<int64_t> shape, std::vector<Split> sharding) {
  TensorInfo tensor{};
  tensor.shape = std::move(shape);
  tensor.sharding = std::move(sharding);
  return tensor;
}

/// Checks that every element is on one rank per replica group, at the place
/// that the definition in docs/Artifact.md gives, whatever the longest run.
void checkTiling(const TensorInfo &tensor, const Mesh &mesh, int64_t longest) {
  std::vector<int64_t> local = localShapeOf(tensor, mesh);
  std::vector<int> seen(elementsOf(tensor.shape));
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> coordinates = mesh.coordinates(rank);
    Shard shard = shardOf(tensor, mesh, coordinates);
    ShardRuns runs(shard, longest);
    std::set<int64_t> places;
    for (int64_t i = 0; i < runs.count(); ++i) {
      Run run = runs.at(i);
      ASSERT_GT(run.length, 0);
      ASSERT_LE(run.length, longest);
      for (int64_t k = 0; k < run.length; ++k) {
        // Decode both indices: they differ by the shard's starts only.
        int64_t g = run.global + k, l = run.local + k;
        ASSERT_TRUE(places.insert(l).second);
        for (size_t d = tensor.shape.size(); d-- > 0;) {
          ASSERT_EQ(g % tensor.shape[d], l % local[d] + shard.dims[d].start);
          g /= tensor.shape[d];
          l /= local[d];
        }
        if (isFirstReplica(tensor, mesh, coordinates))
          ++seen[run.global + k];
      }
    }
  }
  for (int count : seen)
    ASSERT_EQ(count, 1);
}

TEST(Sharding, TilesEveryShapeOnEveryMesh) {
  Mesh mesh{{{"dp", 2}, {"tp", 3}}};
  for (int64_t rows = 1; rows < 9; ++rows)
    for (int64_t cols : {1, 2, 5})
      for (int64_t longest : {1, 3, 1000}) {
        checkTiling(tensorOf({rows, 3, cols}, {}), mesh, longest);
        checkTiling(tensorOf({rows, 3, cols}, {{1, 0}}), mesh, longest);
        checkTiling(tensorOf({rows, 3, cols}, {{1, 2}, {0, 0}}), mesh, longest);
        checkTiling(tensorOf({rows, 3, cols}, {{1, 0}, {0, 0}}), mesh, longest);
        checkTiling(tensorOf({rows, 3, cols}, {{0, 2}, {1, 2}}), mesh, longest);
      }
}

TEST(Sharding, VocabularyOfGpt2OverFour) {
  Mesh mesh{{{"tp", 4}}};
  TensorInfo tensor = tensorOf({50257, 768}, {{0, 0}});
  EXPECT_EQ(localShapeOf(tensor, mesh), (std::vector<int64_t>{12565, 768}));
  DimRange last = shardOf(tensor, mesh, {3}).dims[0];
  EXPECT_EQ(last.start, 37695);
  EXPECT_EQ(last.valid, 12562);
  EXPECT_TRUE(shardOf(tensor, mesh, {3}).isPadded());
  EXPECT_FALSE(shardOf(tensor, mesh, {2}).isPadded());
}

TEST(Sharding, InnerAxisCutsThePaddedChunk) {
  // 10 over tp = 4: chunks of 3; over dp = 2 inside: chunks of 2.
  std::vector<DimRange> ranges;
  for (int64_t tp = 0; tp < 4; ++tp)
    for (int64_t dp = 0; dp < 2; ++dp)
      ranges.push_back(cutDimension(10, {{4, tp}, {2, dp}}));
  const int64_t starts[] = {0, 2, 3, 5, 6, 8, 9, 10};
  const int64_t valids[] = {2, 1, 2, 1, 2, 1, 1, 0};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(ranges[i].start, starts[i]);
    EXPECT_EQ(ranges[i].valid, valids[i]);
    EXPECT_EQ(ranges[i].local, 2);
  }
}

TEST(Sharding, ScalarIsOneRun) {
  Mesh mesh{{{"tp", 2}}};
  ShardRuns runs(shardOf(tensorOf({}, {}), mesh, {1}));
  ASSERT_EQ(runs.count(), 1);
  EXPECT_EQ(runs.at(0).length, 1);
}

TEST(Sharding, RunsAreAsLongAsTheyCanBe) {
  Mesh mesh{{{"tp", 2}}};
  auto runs = [&](std::vector<Split> sharding, int64_t longest) {
    Shard shard = shardOf(tensorOf({4, 3, 6}, sharding), mesh, {1});
    return ShardRuns(shard, longest).count();
  };
  EXPECT_EQ(runs({}, 1000), 1);
  EXPECT_EQ(runs({}, 72), 1);
  EXPECT_EQ(runs({}, 71), 2);
  EXPECT_EQ(runs({{0, 0}}, 1000), 1);
  EXPECT_EQ(runs({{0, 2}}, 1000), 12);
  EXPECT_EQ(runs({{0, 2}}, 2), 24);
}

TEST(Sharding, EmptyShardHasNoRuns) {
  Mesh mesh{{{"tp", 4}}};
  EXPECT_EQ(ShardRuns(shardOf(tensorOf({2, 3}, {{0, 0}}), mesh, {3})).count(),
            0);
}

TEST(Mesh, LastAxisVariesFastest) {
  Mesh mesh{{{"dp", 2}, {"tp", 4}}};
  EXPECT_EQ(mesh.coordinates(6), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(mesh.group(6, 2), (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(mesh.group(6, 1), (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(mesh.describe(3), "axes 'dp', 'tp'");
}

} // namespace
