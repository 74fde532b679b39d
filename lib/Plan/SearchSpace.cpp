//===- SearchSpace.cpp - which plans there are ----------------------------===//

#include "tessera/Plan/SearchSpace.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Schedule/PipelineSchedule.h"
#include <algorithm>
#include <limits>
#include <set>

using namespace tessera;
using tessera::plan::SearchSpace;
using tessera::plan::StageLoads;

static std::vector<int64_t> divisorsOf(int64_t number) {
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= number; ++i)
    if (number % i == 0)
      divisors.push_back(i);
  return divisors;
}

static int64_t ceilDiv(int64_t number, int64_t divisor) {
  return (number + divisor - 1) / divisor;
}

int64_t plan::microBatchOf(const PlanOptions &plan) {
  return ceilDiv(plan.sizes.batch,
                 plan.mesh.lanes() *
                     std::max<int64_t>(plan.sizes.microBatches, 1));
}

bool SearchSpace::choosesLayers() const {
  return !isGiven(FlagPurpose::Recomputation);
}

bool SearchSpace::isGiven(FlagPurpose purpose) const {
  const GivenFlags flags = flagsFor(purpose);
  return std::any_of(flags.begin(), flags.end(), [&](const std::string &flag) {
    return given.count(flag) != 0;
  });
}

/// Returns the plan with so many micro-batches.
static PlanOptions withCount(PlanOptions plan, int64_t microBatches) {
  plan.sizes.microBatches = microBatches;
  return plan;
}

/// Chunks of whole layers, of which the first and the last may have none: they
/// have the embedding and the head.
static int64_t mostChunks(int64_t layers) { return layers + 2; }

/// Returns the stages: the compiler cuts a layer between attention and
/// feed-forward too.
static int64_t mostStages(int64_t layers) { return 2 * layers; }

//===----------------------------------------------------------------------===//
// Plans to begin with
//===----------------------------------------------------------------------===//

namespace {

class Enumeration {
public:
  explicit Enumeration(const SearchSpace &space) : space(space) {}
  plan::FirstPlans run();

private:
  bool isGiven(const char *name) const { return space.given.count(name) != 0; }
  std::vector<MeshShape> meshes() const;
  plan::FirstPlans withoutRefused() const;
  void addMicroBatches(PlanOptions plan);
  void addSchedules(PlanOptions plan);
  void addRecomputations(PlanOptions plan);
  void setUsual(PlanOptions &plan) const;

  const SearchSpace &space;
  std::vector<PlanOptions> plans;
};

} // namespace

/// Returns the axes from the outermost: stages need least bandwidth, tensors
/// most.
static MeshShape meshOf(int64_t pp, int64_t dp, int64_t cp, int64_t ep,
                        int64_t tp) {
  MeshShape mesh;
  for (auto [axis, size] :
       {std::pair{MeshAxis::Pipeline, pp}, std::pair{MeshAxis::Data, dp},
        std::pair{MeshAxis::Context, cp}, std::pair{MeshAxis::Expert, ep},
        std::pair{MeshAxis::Tensor, tp}})
    if (size > 1)
      mesh.axes.push_back({axis, size});
  return mesh;
}

std::vector<MeshShape> Enumeration::meshes() const {
  if (isGiven("--mesh"))
    return {space.base.mesh};
  // Shorter sequences gain nothing from cp that tp does not give.
  constexpr int64_t longSequence = 16384;
  int64_t mostContext = space.sequence >= longSequence ? 64 : 1;
  int64_t mostExpert = space.hasExperts ? 64 : 1;
  std::vector<MeshShape> all;
  for (int64_t tp : divisorsOf(space.ranks))
    for (int64_t cp : divisorsOf(space.ranks / tp))
      for (int64_t ep : divisorsOf(space.ranks / tp / cp))
        for (int64_t pp : divisorsOf(space.ranks / tp / cp / ep))
          if (tp <= space.devicesPerNode && cp <= mostContext &&
              ep <= mostExpert && pp <= mostStages(space.layers))
            all.push_back(
                meshOf(pp, space.ranks / tp / cp / ep / pp, cp, ep, tp));
  return all;
}

/// Returns whether ranks hold the same parameters and see different tokens.
static bool sharesParameters(const MeshShape &mesh) {
  return mesh.sizeOf(MeshAxis::Data) > 1 || mesh.sizeOf(MeshAxis::Context) > 1;
}

/// Sets the options that pay nearly always; the rest is next to the best plans.
void Enumeration::setUsual(PlanOptions &plan) const {
  if (!isGiven("--sequence-parallel"))
    plan.strategies.sequenceParallel = plan.mesh.sizeOf(MeshAxis::Tensor) > 1;
  if (!isGiven("--zero"))
    plan.strategies.zero = sharesParameters(plan.mesh)
                               ? ZeroStage::OptimizerState
                               : ZeroStage::None;
}

/// Returns, among the counts that cut the batch, whose micro-batches have at
/// most `most` and more than `least` sequences on a rank, the one with the
/// fewest sequences in all, padding included; among several, the one of larger
/// micro-batches. 0: no count does.
static int64_t countBetween(const PlanOptions &plan, int64_t least,
                            int64_t most) {
  int64_t best = 0, fewest = std::numeric_limits<int64_t>::max();
  for (int64_t count : divisorsOf(plan.sizes.batch)) {
    int64_t size = plan::microBatchOf(withCount(plan, count));
    if (size > least && size <= most && size * count < fewest) {
      fewest = size * count;
      best = count;
    }
  }
  return best;
}

/// Adds plans for each number of micro-batches. If dp and ep do not divide one,
/// ranks have padding. A mesh that divides the batch need not have any.
void Enumeration::addMicroBatches(PlanOptions plan) {
  if (isGiven("--micro-batches"))
    return addSchedules(plan);
  constexpr int64_t largest = 16;
  int64_t batch = plan.sizes.batch, lanes = plan.mesh.lanes(), most = 0;
  for (int64_t size = 1; size <= largest; size *= 2) {
    int64_t count = countBetween(plan, size / 2, size);
    plan.sizes.microBatches = count;
    bool isPadded = count && batch % (lanes * count) != 0;
    if (!count || (isPadded && batch % lanes == 0))
      continue;
    most = std::max(most, count);
    // Otherwise a stage is idle for twice as long as it works, or longer.
    if (count == most || 2 * count >= plan.mesh.sizeOf(MeshAxis::Pipeline))
      addSchedules(plan);
  }
}

void Enumeration::addSchedules(PlanOptions plan) {
  int64_t stages = plan.mesh.sizeOf(MeshAxis::Pipeline);
  if (stages == 1 || space.isGiven(FlagPurpose::Stages))
    return addRecomputations(plan);
  for (auto [kind, chunks] : {std::pair{ScheduleKind::OneForwardOneBackward, 1},
                              std::pair{ScheduleKind::ZeroBubble, 1},
                              std::pair{ScheduleKind::Interleaved, 2},
                              std::pair{ScheduleKind::Interleaved, 3},
                              std::pair{ScheduleKind::Interleaved, 4},
                              std::pair{ScheduleKind::Interleaved, 8}}) {
    if (chunks > 1 && stages * chunks > mostChunks(space.layers))
      continue;
    plan.stages.schedule = kind;
    plan.stages.virtualStages = chunks;
    if (pipeline::checkShape(kind, {stages, chunks, plan.sizes.microBatches})
            .empty())
      addRecomputations(plan);
  }
}

void Enumeration::addRecomputations(PlanOptions plan) {
  if (isGiven("--recompute")) {
    plans.push_back(plan);
    return;
  }
  for (Recompute recompute :
       {Recompute::None, Recompute::Selective, Recompute::Full}) {
    plan.memory.recompute = recompute;
    plans.push_back(plan);
  }
}

plan::FirstPlans Enumeration::run() {
  for (const MeshShape &mesh : meshes()) {
    PlanOptions plan = space.base;
    plan.mesh = mesh;
    setUsual(plan);
    addMicroBatches(plan);
  }
  return withoutRefused();
}

plan::FirstPlans Enumeration::withoutRefused() const {
  GivenFlags given;
  for (const auto &[name, text] : space.given)
    given.insert(name);
  plan::FirstPlans kept;
  for (const PlanOptions &plan : plans) {
    std::string why = checkPlan(plan, given);
    if (why.empty())
      kept.plans.push_back(plan);
    else if (kept.problem.empty())
      kept.problem = std::move(why);
  }
  if (!kept.plans.empty())
    kept.problem.clear();
  return kept;
}

plan::FirstPlans plan::firstPlans(const SearchSpace &space) {
  return Enumeration(space).run();
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

namespace {

class Neighbours {
public:
  Neighbours(const SearchSpace &space, const PlanOptions &from,
             const StageLoads &loads)
      : space(space), from(from), loads(loads) {}
  std::vector<PlanOptions> run();

private:
  /// Adds plans with the values of one option, as a flag names it, but for that
  /// of `from`.
  template <typename T, typename Field>
  void vary(const char *flag, std::vector<T> values, Field field) {
    if (space.given.count(flag))
      return;
    for (const T &value : values) {
      PlanOptions plan = from;
      if (field(plan) == value)
        continue;
      field(plan) = value;
      plans.push_back(plan);
    }
  }
  void varyMicroBatches();
  void varyCuts();
  void moveLayer(const std::vector<double> &load);
  void varyChunks();
  void varyReplicas();
  void varyPlacement();
  void dropLayers();

  const SearchSpace &space;
  const PlanOptions &from;
  const StageLoads &loads;
  std::vector<PlanOptions> plans;
};

} // namespace

/// Twice and half as many, and the nearest counts whose micro-batches have
/// other sizes; of equal sizes the fewest.
void Neighbours::varyMicroBatches() {
  std::vector<int64_t> divisors = divisorsOf(from.sizes.batch);
  auto sizeOf = [&](int64_t count) {
    return plan::microBatchOf(withCount(from, count));
  };
  int64_t count = from.sizes.microBatches, size = sizeOf(count), more = 0,
          fewer = 0;
  for (int64_t other : divisors) {
    if (!more && sizeOf(other) < size)
      more = other;
    if (sizeOf(other) > size && (!fewer || sizeOf(other) < sizeOf(fewer)))
      fewer = other;
  }
  std::vector<int64_t> counts;
  for (int64_t other : {2 * count, count / 2, more, fewer})
    if (std::binary_search(divisors.begin(), divisors.end(), other) &&
        sizeOf(other) != size &&
        std::find(counts.begin(), counts.end(), other) == counts.end())
      counts.push_back(other);
  vary("--micro-batches", counts,
       [](PlanOptions &plan) -> int64_t & { return plan.sizes.microBatches; });
}

std::vector<int64_t> plan::evenCuts(int64_t layers, int64_t chunks) {
  std::vector<int64_t> cuts(chunks, layers / chunks);
  int64_t more = layers % chunks, first = (chunks - more) / 2;
  for (int64_t chunk = first; chunk < first + more; ++chunk)
    ++cuts[chunk];
  return cuts;
}

/// Equal numbers of layers in each chunk, or a layer in another one.
void Neighbours::varyCuts() {
  int64_t stages = from.mesh.sizeOf(MeshAxis::Pipeline);
  if (stages == 1 || space.given.count("--stages"))
    return;
  int64_t chunks = stages * from.stages.virtualStages;
  if (!from.stages.layers.empty()) {
    moveLayer(loads.seconds);
    moveLayer(loads.bytes);
  } else if (chunks <= mostChunks(space.layers)) {
    PlanOptions plan = from;
    plan.stages.layers = plan::evenCuts(space.layers, chunks);
    plans.push_back(plan);
  }
}

/// Moves a layer from the stage with most to the one with least. The other cuts
/// between the two move along, as a stage has consecutive layers.
void Neighbours::moveLayer(const std::vector<double> &load) {
  int64_t stages = from.mesh.sizeOf(MeshAxis::Pipeline);
  if (static_cast<int64_t>(load.size()) != stages)
    return;
  auto [least, most] = std::minmax_element(load.begin(), load.end());
  if (*most <= *least)
    return;
  PlanOptions plan = from;
  std::vector<int64_t> &layers = plan.stages.layers;
  int64_t last = static_cast<int64_t>(layers.size()) - 1, giver = -1,
          taker = least - load.begin();
  for (int64_t chunk = most - load.begin(); chunk <= last; chunk += stages) {
    int64_t needs = chunk == 0 || chunk == last ? 0 : 1;
    if (layers[chunk] > needs && (giver < 0 || layers[chunk] > layers[giver]))
      giver = chunk;
  }
  for (int64_t chunk = taker; chunk <= last; chunk += stages)
    if (layers[chunk] < layers[taker])
      taker = chunk;
  if (giver < 0)
    return;
  --layers[giver];
  ++layers[taker];
  plans.push_back(plan);
}

/// Numbers of chunks on a stage that cut its layers, be they rounded down or
/// up, into equal parts.
static std::set<int64_t> chunkCounts(int64_t layers, int64_t stages) {
  std::set<int64_t> counts = {1};
  for (int64_t ofStage : {layers / stages, ceilDiv(layers, stages)})
    for (int64_t count : divisorsOf(ofStage))
      if (stages * count <= mostChunks(layers))
        counts.insert(count);
  return counts;
}

/// Varies the numbers of chunks on each stage.
void Neighbours::varyChunks() {
  int64_t stages = from.mesh.sizeOf(MeshAxis::Pipeline);
  if (stages == 1 || space.isGiven(FlagPurpose::Stages))
    return;
  for (int64_t count : chunkCounts(space.layers, stages)) {
    if (count == from.stages.virtualStages)
      continue;
    PlanOptions plan = from;
    plan.stages = {count > 1 ? ScheduleKind::Interleaved
                             : ScheduleKind::OneForwardOneBackward,
                   count,
                   {}};
    if (pipeline::checkShape(plan.stages.schedule,
                             {stages, count, plan.sizes.microBatches})
            .empty())
      plans.push_back(plan);
  }
}

/// Lets two neighbouring axes change places: what was within a node may be
/// across. Within one node nothing changes.
void Neighbours::varyPlacement() {
  if (space.given.count("--mesh") || space.ranks <= space.devicesPerNode)
    return;
  for (size_t i = 0; i + 1 < from.mesh.axes.size(); ++i) {
    PlanOptions plan = from;
    std::swap(plan.mesh.axes[i], plan.mesh.axes[i + 1]);
    plans.push_back(plan);
  }
}

/// Returns the mesh with `factor` times fewer ranks on one axis of data
/// parallelism and more on the other, replicas around.
static MeshShape movedRanks(const MeshShape &mesh, MeshAxis giver,
                            int64_t factor) {
  int64_t replicas = mesh.sizeOf(MeshAxis::Replica);
  int64_t data = mesh.sizeOf(MeshAxis::Data);
  bool gives = giver == MeshAxis::Replica;
  replicas = gives ? replicas / factor : replicas * factor;
  data = gives ? data * factor : data / factor;
  MeshShape moved;
  for (const MeshShape::Axis &axis : mesh.axes) {
    if (axis.axis != MeshAxis::Replica && axis.axis != MeshAxis::Data) {
      moved.axes.push_back(axis);
      continue;
    }
    if (replicas > 1)
      moved.axes.push_back({MeshAxis::Replica, replicas});
    if (data > 1)
      moved.axes.push_back({MeshAxis::Data, data});
    replicas = data = 1; // Both stand where the first was.
  }
  return moved;
}

/// Splits state over fewer ranks, whose links may be faster, or over more.
void Neighbours::varyReplicas() {
  if (space.given.count("--mesh") || space.ranks <= space.devicesPerNode ||
      from.strategies.zero == ZeroStage::None)
    return;
  for (MeshAxis giver : {MeshAxis::Data, MeshAxis::Replica}) {
    int64_t size = from.mesh.sizeOf(giver);
    if (size == 1)
      continue;
    PlanOptions plan = from;
    plan.mesh = movedRanks(from.mesh, giver, divisorsOf(size)[1]);
    if (sharesParameters(plan.mesh))
      plans.push_back(plan);
  }
}

/// Removes the layers that recompute from plans whose stages have other layers:
/// they were chosen for those of this plan.
void Neighbours::dropLayers() {
  for (PlanOptions &plan : plans)
    if (plan.memory.recompute != from.memory.recompute ||
        plan.stages.layers != from.stages.layers ||
        plan.stages.virtualStages != from.stages.virtualStages)
      plan.memory.layerRecompute = {};
}

std::vector<PlanOptions> Neighbours::run() {
  varyMicroBatches();
  varyCuts();
  varyChunks();
  vary("--recompute",
       std::vector{Recompute::None, Recompute::Selective, Recompute::Full},
       [](PlanOptions &plan) -> Recompute & { return plan.memory.recompute; });
  if (from.mesh.sizeOf(MeshAxis::Tensor) > 1)
    vary("--sequence-parallel", std::vector<int>{0, 1},
         [](PlanOptions &plan) -> bool & {
           return plan.strategies.sequenceParallel;
         });
  if (sharesParameters(from.mesh)) {
    vary("--zero",
         std::vector{ZeroStage::None, ZeroStage::OptimizerState,
                     ZeroStage::Gradients, ZeroStage::Parameters},
         [](PlanOptions &plan) -> ZeroStage & { return plan.strategies.zero; });
    vary("--bucket-size",
         std::vector<int64_t>{int64_t(25) << 20, int64_t(200) << 20},
         [](PlanOptions &plan) -> int64_t & {
           return plan.communication.bucketBytes;
         });
  }
  if (from.mesh.sizeOf(MeshAxis::Context) > 1)
    vary("--context-parallel",
         std::vector{ContextParallel::AllGather, ContextParallel::Ulysses,
                     ContextParallel::Ring},
         [](PlanOptions &plan) -> ContextParallel & {
           return plan.strategies.contextParallel;
         });
  varyReplicas();
  varyPlacement();
  if (space.choosesLayers())
    dropLayers();
  return std::move(plans);
}

std::vector<PlanOptions> plan::plansNextTo(const SearchSpace &space,
                                           const PlanOptions &from,
                                           const StageLoads &loads) {
  return Neighbours(space, from, loads).run();
}

//===----------------------------------------------------------------------===//
// Plans as text
//===----------------------------------------------------------------------===//

std::vector<std::pair<std::string, std::string>>
plan::chosenOptions(const SearchSpace &space, const PlanOptions &plan) {
  static const std::set<std::string> always = {"--batch", "--micro-batches",
                                               "--recompute"};
  const PlanOptions standard;
  std::vector<std::pair<std::string, std::string>> options;
  auto add = [&](FlagCheck check, FlagPurpose purpose, const std::string &name,
                 const std::string &text, const std::string &usual) {
    if (namesPath(check))
      return;
    const bool isSearched = purpose != FlagPurpose::LearningRate;
    auto given = space.given.find(name);
    if (given != space.given.end())
      options.emplace_back(name.substr(2), given->second);
    else if (isSearched && (text != usual || always.count(name)) &&
             !text.empty())
      options.emplace_back(name.substr(2), text);
  };
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  add(FlagCheck::CHECK, FlagPurpose::PURPOSE, flagName(#NAME),                 \
      flagText(FlagCheck::CHECK, plan.FIELD),                                  \
      flagText(FlagCheck::CHECK, standard.FIELD));
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  return options;
}

std::string plan::keyOf(const PlanOptions &plan) {
  // Given options are the same in all.
  std::string key;
  for (const auto &[name, text] : plan::chosenOptions({}, plan))
    key += name + "=" + text + " ";
  return key;
}
