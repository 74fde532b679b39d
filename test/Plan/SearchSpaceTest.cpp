//===- SearchSpaceTest.cpp - meshes and cuts that a search tries ----------===//

#include "tessera/Plan/SearchSpace.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

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

/// The largest chunk of a stage gives a layer and the smallest takes it; the
/// outer ones of the model may give all they have.
TEST(SearchSpace, ChunksKeepALayerUnlessTheyAreTheOuterOnes) {
  PlanOptions plan = planOf({3, 3, 2, 4}, 2, 2);
  EXPECT_EQ(cutsNextTo(plan, {{1, 2}, {}}), (std::vector<Cuts>{{3, 3, 3, 3}}));
  plan = planOf({1, 5, 1, 5}, 2, 2);
  EXPECT_EQ(cutsNextTo(plan, {{2, 1}, {}}), (std::vector<Cuts>{{0, 6, 1, 5}}));
  plan = planOf({0, 5, 1, 6}, 2, 2);
  EXPECT_TRUE(cutsNextTo(plan, {{2, 1}, {}}).empty());
}

/// Counts of micro-batches with which a search begins on a mesh.
std::set<int64_t> countsOf(const SearchSpace &space, const std::string &mesh) {
  std::set<int64_t> counts;
  for (const PlanOptions &plan : firstPlans(space).plans)
    if (plan.mesh.str() == mesh)
      counts.insert(plan.sizes.microBatches);
  return counts;
}

SearchSpace spaceOf(int64_t batch, int64_t ranks, int64_t layers) {
  SearchSpace space;
  space.base.sizes.batch = batch;
  space.ranks = space.devicesPerNode = ranks;
  space.layers = layers;
  return space;
}

TEST(SearchSpace, AMeshNeedNotDivideTheBatch) {
  SearchSpace space = spaceOf(6, 4, 7);
  // 3 sequences on 4 ranks, with 1 each, or 6, with 2 each.
  EXPECT_EQ(countsOf(space, "dp=4"), (std::set<int64_t>{2, 1}));
  // Evenly: 1 or 3 each.
  EXPECT_EQ(countsOf(space, "dp=2,tp=2"), (std::set<int64_t>{3, 1}));
  EXPECT_EQ(countsOf(space, "tp=4"), (std::set<int64_t>{6, 3, 2, 1}));
  EXPECT_EQ(countsOf(space, "pp=4"), (std::set<int64_t>{6, 3, 2}));
  space.given["--micro-batches"] = "3";
  space.base.sizes.microBatches = 3;
  EXPECT_EQ(countsOf(space, "dp=4"), (std::set<int64_t>{3}));
}

/// No plan ignores or contradicts what is given.
TEST(SearchSpace, GivenFlagsChooseMeshes) {
  auto meshesWith = [](const char *flag, const char *text) {
    SearchSpace space = spaceOf(8, 4, 4);
    space.given[flag] = text;
    EXPECT_EQ(setPlannedFlag(space.base, flag + 2, text), "");
    std::set<std::string> meshes;
    for (const PlanOptions &plan : firstPlans(space).plans)
      meshes.insert(plan.mesh.str());
    return meshes;
  };
  EXPECT_EQ(meshesWith("--stages", "2,2"),
            (std::set<std::string>{"pp=4", "pp=2,dp=2", "pp=2,tp=2"}));
  EXPECT_EQ(meshesWith("--sequence-parallel", "true"),
            (std::set<std::string>{"dp=2,tp=2", "pp=2,tp=2", "tp=4"}));
  EXPECT_EQ(meshesWith("--zero", "2"),
            (std::set<std::string>{"dp=4", "dp=2,tp=2", "pp=2,dp=2"}));
}

/// Long sequences may be split over cp, whose ranks hold the same parameters.
TEST(SearchSpace, StateIsSplitOverContexts) {
  SearchSpace space = spaceOf(8, 4, 4);
  space.sequence = 16384;
  std::set<std::string> split;
  for (const PlanOptions &plan : firstPlans(space).plans)
    if (plan.strategies.zero != ZeroStage::None)
      split.insert(plan.mesh.str());
  EXPECT_TRUE(split.count("cp=4"));
  EXPECT_TRUE(split.count("cp=2,tp=2"));
  EXPECT_FALSE(split.count("tp=4"));
}

TEST(SearchSpace, RefusedPlansAreNotSearched) {
  auto problemWith = [](const char *flag, const char *text, int64_t ranks) {
    SearchSpace space = spaceOf(10, ranks, 2);
    space.given[flag] = text;
    EXPECT_EQ(setPlannedFlag(space.base, flag + 2, text), "");
    const FirstPlans found = firstPlans(space);
    EXPECT_EQ(found.plans.empty(), !found.problem.empty());
    return found.problem;
  };
  EXPECT_EQ(problemWith("--context-parallel", "ring", 4), // for long sequences
            "--context-parallel ring passes keys and values along mesh axis "
            "'cp', which has one rank; use a mesh with cp=2 or more, or leave "
            "it out");
  // Two layers make no five stages; the flag's value is the default.
  EXPECT_EQ(problemWith("--schedule", "1f1b", 5),
            "--schedule is about pipeline stages, but the mesh has none; give "
            "it an axis pp, e.g. pp=2");
  EXPECT_EQ(problemWith("--schedule", "1f1b", 4), "");
}

/// Among counts of equal sizes, the one with fewest sequences is taken, padding
/// included.
TEST(SearchSpace, MicroBatchesHaveLittlePadding) {
  SearchSpace space = spaceOf(1000, 7, 1);
  // 7 ranks get 5, 10, 20, 40 and 100 sequences.
  EXPECT_EQ(countsOf(space, "dp=7"), (std::set<int64_t>{200, 100, 50, 25, 10}));
  space = spaceOf(48, 4, 1); // divided evenly, sizes are powers of two
  EXPECT_EQ(countsOf(space, "dp=4"), (std::set<int64_t>{12, 6, 3, 2, 1}));
}

TEST(SearchSpace, PaddingIsPartOfAMicroBatch) {
  PlanOptions plan;
  plan.mesh.axes = {{MeshAxis::Data, 4}};
  plan.sizes.batch = 6;
  EXPECT_EQ(microBatchOf(plan), 2);
  plan.sizes.microBatches = 2;
  EXPECT_EQ(microBatchOf(plan), 1);
}

/// Counts of micro-batches next to a plan on dp.
std::set<int64_t> countsNextTo(int64_t batch, int64_t ranks, int64_t count) {
  PlanOptions plan;
  plan.mesh.axes = {{MeshAxis::Data, ranks}};
  plan.sizes.batch = batch;
  plan.sizes.microBatches = count;
  std::set<int64_t> counts;
  for (const PlanOptions &next :
       plansNextTo(spaceOf(batch, ranks, 1), plan, {}))
    if (next.sizes.microBatches != count)
      counts.insert(next.sizes.microBatches);
  return counts;
}

/// Between nodes, fewer or more ranks may split state.
TEST(SearchSpace, NeighboursHaveOtherGroupsOfState) {
  auto meshesNextTo = [](std::vector<MeshShape::Axis> axes, ZeroStage zero) {
    SearchSpace space = spaceOf(8, 8, 1);
    space.devicesPerNode = 2;
    PlanOptions plan;
    plan.mesh.axes = std::move(axes);
    plan.sizes.batch = 8;
    plan.strategies.zero = zero;
    std::set<std::string> meshes;
    for (const PlanOptions &next : plansNextTo(space, plan, {}))
      if (next.mesh.ranks() == 8)
        meshes.insert(next.mesh.str());
    return meshes;
  };
  const std::vector<MeshShape::Axis> one = {{MeshAxis::Data, 8}};
  EXPECT_EQ(meshesNextTo(one, ZeroStage::Parameters),
            (std::set<std::string>{"dp=8", "dp_replicate=2,dp=4"}));
  EXPECT_EQ(meshesNextTo(one, ZeroStage::None),
            (std::set<std::string>{"dp=8"}));
  EXPECT_EQ(meshesNextTo({{MeshAxis::Replica, 4}, {MeshAxis::Data, 2}},
                         ZeroStage::Gradients),
            (std::set<std::string>{"dp_replicate=4,dp=2", "dp_replicate=2,dp=4",
                                   "dp=2,dp_replicate=4"}));
}

TEST(SearchSpace, NeighboursHaveOtherSizesOfMicroBatches) {
  EXPECT_EQ(countsNextTo(64, 1, 32), (std::set<int64_t>{16, 64}));
  // 6 sequences on each of 7 ranks become 3, or as near as possible, 4 or 8.
  EXPECT_EQ(countsNextTo(1000, 7, 25), (std::set<int64_t>{20, 40, 50}));
  EXPECT_EQ(countsNextTo(6, 4, 1), (std::set<int64_t>{2}));
  EXPECT_EQ(countsNextTo(6, 4, 6), (std::set<int64_t>{1}));
}

/// Numbers of stages and virtual stages with which a search begins.
std::set<std::pair<int64_t, int64_t>> chunksOf(const SearchSpace &space) {
  std::set<std::pair<int64_t, int64_t>> chunks;
  for (const PlanOptions &plan : firstPlans(space).plans)
    chunks.insert(
        {plan.mesh.sizeOf(MeshAxis::Pipeline), plan.stages.virtualStages});
  return chunks;
}

TEST(SearchSpace, StagesNeedNotDivideTheLayers) {
  auto chunks = chunksOf(spaceOf(64, 8, 7));
  // The embedding and the head may have chunks of their own, and a layer may be
  // cut.
  for (auto [stages, each] : {std::pair{4, 1}, {4, 2}, {2, 4}, {8, 1}})
    EXPECT_EQ(chunks.count({stages, each}), 1u) << stages << " " << each;
  EXPECT_EQ(chunks.count({4, 3}), 0u);
  EXPECT_EQ(chunks.count({8, 2}), 0u);
  EXPECT_EQ(chunksOf(spaceOf(64, 8, 3)).count({8, 1}), 0u);
}

/// The stages are those of Llama 3 405B: 126 layers in 128 chunks.
TEST(SearchSpace, OuterChunksMayLackLayers) {
  PlanOptions plan;
  plan.mesh.axes = {{MeshAxis::Pipeline, 16}};
  plan.sizes.batch = plan.sizes.microBatches = 16;
  std::set<int64_t> counts;
  for (const PlanOptions &next : plansNextTo(spaceOf(16, 16, 126), plan, {}))
    counts.insert(next.stages.virtualStages);
  EXPECT_EQ(counts, (std::set<int64_t>{1, 2, 4, 7, 8}));
  plan.stages.virtualStages = 8;
  plan.stages.schedule = ScheduleKind::Interleaved;
  Cuts cuts(128, 1);
  cuts.front() = cuts.back() = 0;
  bool isFound = false;
  for (const PlanOptions &next : plansNextTo(spaceOf(16, 16, 126), plan, {}))
    isFound |= next.stages.layers == cuts;
  EXPECT_TRUE(isFound);
}

/// Texts of the layers of the plans next to one whose first layer recomputes,
/// by what the plans vary.
std::map<std::string, std::set<std::string>>
layersNextTo(const SearchSpace &space) {
  PlanOptions plan = planOf({3, 3, 3, 3}, 4, 1);
  plan.memory.layerRecompute.ranges = {{0, 0, Recompute::Full}};
  std::map<std::string, std::set<std::string>> layers;
  for (const PlanOptions &next :
       plansNextTo(space, plan, {{3, 3, 1, 4}, {9, 2, 2, 1}})) {
    const char *varied = next.stages.layers != plan.stages.layers ? "stages"
                         : next.memory.recompute != plan.memory.recompute
                             ? "recompute"
                             : "other";
    layers[varied].insert(next.memory.layerRecompute.str());
  }
  return layers;
}

/// The layers that recompute are chosen for the stages that have them.
TEST(SearchSpace, OtherStagesDoNotKeepTheLayersThatRecompute) {
  SearchSpace space = spaceOf(8, 4, 12);
  EXPECT_TRUE(space.choosesLayers());
  auto layers = layersNextTo(space);
  EXPECT_EQ(layers["stages"], (std::set<std::string>{""}));
  EXPECT_EQ(layers["recompute"], (std::set<std::string>{""}));
  EXPECT_EQ(layers["other"], (std::set<std::string>{"0=full"}));
  space.given["--layer-recompute"] = "0=full";
  EXPECT_FALSE(space.choosesLayers());
  layers = layersNextTo(space);
  EXPECT_EQ(layers["stages"], (std::set<std::string>{"0=full"}));
  EXPECT_EQ(layers["recompute"], (std::set<std::string>{"0=full"}));
}

TEST(SearchSpace, PlansWithOtherLayersDiffer) {
  PlanOptions plan = planOf({3, 3, 3, 3}, 4, 1), other = plan;
  other.memory.layerRecompute.ranges = {{0, 0, Recompute::Full}};
  EXPECT_NE(keyOf(plan), keyOf(other));
}

} // namespace
