//===- LayerFitTest.cpp - numbers of layers that recompute ----------------===//

#include "tessera/Plan/LayerFit.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::plan;

namespace {

using Layers = std::vector<int64_t>;
using Copies = std::vector<double>;

PlanOptions planOf(int64_t stages, int64_t virtualStages,
                   int64_t microBatches) {
  PlanOptions plan;
  if (stages > 1)
    plan.mesh.axes = {{MeshAxis::Pipeline, stages}};
  plan.stages.virtualStages = virtualStages;
  if (virtualStages > 1)
    plan.stages.schedule = ScheduleKind::Interleaved;
  plan.sizes.microBatches = microBatches;
  return plan;
}

TEST(LayerFit, EarlyStagesHaveMoreMicroBatchesInFlight) {
  auto stages = stageLayers(planOf(3, 1, 8), {{0, 1}, {2, 3}, {4}});
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].layers, (Layers{0, 1}));
  EXPECT_EQ(stages[0].copies, (Copies{3, 3}));
  EXPECT_EQ(stages[1].copies, (Copies{2, 2}));
  EXPECT_EQ(stages[2].copies, (Copies{1}));
  // No more than there are.
  EXPECT_EQ(stageLayers(planOf(3, 1, 2), {{0}, {1}, {2}})[0].copies,
            (Copies{2}));
  // Without stages one micro-batch follows the other.
  EXPECT_EQ(stageLayers(planOf(1, 1, 8), {{0, 1}})[0].copies, (Copies{1, 1}));
}

/// Stages are those of Narayanan et al. 2021: stage s of p begins with 2 (p - s
/// - 1) + (v - 1) p + 1 forward tasks, by groups of p micro-batches.
TEST(LayerFit, EarlyChunksOfAStageComeFirst) {
  auto stages = stageLayers(planOf(2, 2, 8), {{0, 1}, {2}, {3, 4}, {5}});
  EXPECT_EQ(stages[0].layers, (Layers{0, 1, 3, 4}));
  EXPECT_EQ(stages[0].copies, (Copies{3, 3, 2, 2}));
  EXPECT_EQ(stages[1].layers, (Layers{2, 5}));
  EXPECT_EQ(stages[1].copies, (Copies{2, 1}));
}

StageLayers six() { return {{0, 1, 2, 3, 4, 5}, {2, 2, 2, 2, 1, 1}}; }

TEST(LayerFit, TheLeastNumberIsEstimatedFromOne) {
  // A layer saves 20 bytes at first and 10 in the end.
  EXPECT_EQ(leastCount(six(), 10, {{0, 135}}, 100), 2);
  EXPECT_EQ(leastCount(six(), 10, {{0, 140}}, 100), 2);
  EXPECT_EQ(leastCount(six(), 10, {{0, 195}}, 100), 6);
  EXPECT_EQ(leastCount(six(), 10, {{0, 201}}, 100), std::nullopt);
  EXPECT_EQ(leastCount(six(), 10, {{0, 100}}, 100), 0);
  // From above.
  EXPECT_EQ(leastCount(six(), 10, {{6, 75}}, 100), 4);
  EXPECT_EQ(leastCount(six(), 10, {{6, 101}}, 100), std::nullopt);
}

TEST(LayerFit, MeasuredNumbersCorrectTheEstimate) {
  // 2 layers should have been enough, but save half of what was thought.
  EXPECT_EQ(leastCount(six(), 10, {{0, 140}, {2, 120}}, 100), 4);
  // 4 were enough by far.
  EXPECT_EQ(leastCount(six(), 10, {{0, 140}, {4, 40}}, 100), 2);
  // The order in which they are known does not matter.
  EXPECT_EQ(leastCount(six(), 10, {{2, 120}, {0, 140}}, 100), 4);
  // A layer that saves nothing says little of the others, but all of them do.
  EXPECT_EQ(leastCount(six(), 10, {{0, 140}, {1, 141}}, 100), 4);
  EXPECT_EQ(leastCount(six(), 10, {{0, 140}, {6, 141}}, 100), std::nullopt);
}

TEST(LayerFit, OneFewerIsTriedUnlessItIsKnown) {
  EXPECT_EQ(oneFewer(six(), {{0, 140}, {4, 90}}, 100), 3);
  EXPECT_EQ(oneFewer(six(), {{3, 101}, {4, 90}}, 100), 4);
  EXPECT_EQ(oneFewer(six(), {{0, 90}}, 100), 0);
  EXPECT_EQ(oneFewer(six(), {{3, 101}}, 100), std::nullopt);
}

/// Whatever the bytes are, the answer is found after few others, and it is the
/// least number that fits.
TEST(LayerFit, TheLeastNumberIsFound) {
  for (double limit = 60; limit < 150; limit += 7) {
    const Copies bytes = {150, 149, 110, 105, 80, 61, 60};
    std::vector<StageBytes> known = {{0, bytes[0]}};
    std::optional<int64_t> found;
    for (size_t tries = 0; tries < bytes.size(); ++tries) {
      found = leastCount(six(), 10, known, limit);
      ASSERT_TRUE(found) << limit;
      known.push_back({*found, bytes[*found]});
    }
    EXPECT_LE(bytes[*found], limit);
    EXPECT_GT(bytes[*found - 1], limit);
  }
}

TEST(LayerFit, RangesAreThoseOfAllStages) {
  auto stages = stageLayers(planOf(2, 2, 8), {{0, 1}, {2}, {3, 4}, {5}});
  LayerRecompute some = layerRanges(stages, {3, 1}, Recompute::Full);
  EXPECT_EQ(some.str(), "0-3=full");
  EXPECT_EQ(layerRanges(stages, {1, 2}, Recompute::Selective).str(),
            "0=selective,2=selective,5=selective");
  EXPECT_EQ(layerRanges(stages, {0, 0}, Recompute::Full).str(), "");
  PlanOptions plan;
  plan.memory.layerRecompute = some;
  EXPECT_EQ(countOf(stages[0], plan, Recompute::Full), 3);
  EXPECT_EQ(countOf(stages[0], plan, Recompute::None), 1);
  EXPECT_EQ(countOf(stages[1], plan, Recompute::Full), 1);
}

} // namespace
