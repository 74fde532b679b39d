//===- SearchSpaceTest.cpp - cuts into stages that a search tries ---------===//

#include "tessera/Plan/SearchSpace.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

using namespace tessera;
using namespace tessera::plan;

namespace {

using Cuts = std::vector<int64_t>;

TEST(SearchSpace, EvenCutsGiveTheMiddleMore) {
  EXPECT_EQ(evenCuts(12, 4), (Cuts{3, 3, 3, 3}));
  EXPECT_EQ(evenCuts(13, 4), (Cuts{3, 4, 3, 3}));
  EXPECT_EQ(evenCuts(14, 4), (Cuts{3, 4, 4, 3}));
  EXPECT_EQ(evenCuts(15, 4), (Cuts{4, 4, 4, 3}));
  EXPECT_EQ(evenCuts(3, 3), (Cuts{1, 1, 1}));
}

PlanOptions planOf(const Cuts &cuts, int64_t stages, int64_t virtualStages) {
  PlanOptions plan;
  plan.mesh.axes = {{MeshAxis::Pipeline, stages}};
  plan.sizes.batch = plan.sizes.microBatches = 8;
  plan.stages.layers = cuts;
  plan.stages.virtualStages = virtualStages;
  if (virtualStages > 1)
    plan.stages.schedule = ScheduleKind::Interleaved;
  return plan;
}

/// Cuts of the plans next to one that differ from its own.
std::vector<Cuts> cutsNextTo(const PlanOptions &plan, const StageLoads &loads,
                             bool areGiven = false) {
  SearchSpace space;
  space.ranks = plan.mesh.ranks();
  space.layers = 12;
  if (areGiven)
    space.given["--stages"] = "3,3,3,3";
  std::vector<Cuts> found;
  for (const PlanOptions &next : plansNextTo(space, plan, loads))
    if (!next.stages.layers.empty() &&
        next.stages.layers != plan.stages.layers &&
        std::find(found.begin(), found.end(), next.stages.layers) ==
            found.end())
      found.push_back(next.stages.layers);
  return found;
}

TEST(SearchSpace, ALayerLeavesTheSlowestAndTheFullestStage) {
  PlanOptions plan = planOf({3, 3, 3, 3}, 4, 1);
  EXPECT_EQ(cutsNextTo(plan, {{3, 3, 1, 4}, {9, 2, 2, 1}}),
            (std::vector<Cuts>{{3, 3, 4, 2}, {2, 3, 3, 4}}));
  // Nothing is known; all stages are alike; the cuts are given.
  EXPECT_TRUE(cutsNextTo(plan, {}).empty());
  EXPECT_TRUE(cutsNextTo(plan, {{2, 2, 2, 2}, {}}).empty());
  EXPECT_TRUE(cutsNextTo(plan, {{3, 3, 1, 4}, {9, 2, 2, 1}}, true).empty());
}

TEST(SearchSpace, BalancedStagesGetEvenCuts) {
  EXPECT_EQ(cutsNextTo(planOf({}, 5, 1), {}),
            (std::vector<Cuts>{{2, 3, 3, 2, 2}}));
}

/// Of the chunks of a stage the largest gives and the smallest takes; the outer
/// ones of the model may give all they have.
TEST(SearchSpace, ChunksKeepALayerUnlessTheyAreTheOuterOnes) {
  PlanOptions plan = planOf({3, 3, 2, 4}, 2, 2);
  EXPECT_EQ(cutsNextTo(plan, {{1, 2}, {}}), (std::vector<Cuts>{{3, 3, 3, 3}}));
  plan = planOf({1, 5, 1, 5}, 2, 2);
  EXPECT_EQ(cutsNextTo(plan, {{2, 1}, {}}), (std::vector<Cuts>{{0, 6, 1, 5}}));
  plan = planOf({0, 5, 1, 6}, 2, 2);
  EXPECT_TRUE(cutsNextTo(plan, {{2, 1}, {}}).empty());
}

} // namespace
