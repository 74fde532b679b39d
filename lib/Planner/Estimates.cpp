//===- Estimates.cpp - plans from samples of few layers -------------------===//

#include "tessera/Planner/Estimates.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tessera/Plan/SearchSpace.h"
#include "tessera/Target/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <tuple>

using namespace tessera;

static bool isOfPipeline(const PlanOptions &plan) {
  return plan.mesh.sizeOf(MeshAxis::Pipeline) > 1;
}

/// Returns whether no gradients are summed over micro-batches.
static bool isSingle(const PlanOptions &plan) {
  return plan.sizes.microBatches == 1 && !isOfPipeline(plan);
}

PlanOptions tessera::sampleOf(const PlanOptions &plan) {
  PlanOptions sample = plan;
  int64_t microBatches = isSingle(plan) ? 1 : Sample::kMicroBatches;
  llvm::erase_if(sample.mesh.axes, [](const MeshShape::Axis &axis) {
    return axis.axis == MeshAxis::Pipeline;
  });
  sample.stages = StageOptions();
  sample.memory.layerRecompute = {}; // a sample lacks these layers
  sample.strategies.replicatedLayers = {};
  sample.sizes.batch =
      plan.sizes.batch / plan.sizes.microBatches * microBatches;
  sample.sizes.microBatches = microBatches;
  return sample;
}

//===----------------------------------------------------------------------===//
// Models of few layers
//===----------------------------------------------------------------------===//

/// The config with at most so many layers, by whatever name it has for them.
static llvm::json::Value withLayers(const llvm::json::Value &config,
                                    int64_t layers) {
  llvm::json::Value copy = config;
  llvm::json::Object *keys = copy.getAsObject();
  for (const char *name :
       {"n_layer", "num_hidden_layers", "num_layers", "num_decoder_layers"})
    if (std::optional<int64_t> all = keys->getInteger(name))
      (*keys)[name] = std::min(*all, layers);
  if (llvm::json::Array *types = keys->getArray("layer_types"))
    while (static_cast<int64_t>(types->size()) > layers)
      types->pop_back();
  return copy;
}

llvm::Error SampledModel::make(const std::string &model) {
  llvm::SmallString<128> file(model);
  if (llvm::sys::fs::is_directory(model))
    llvm::sys::path::append(file, "config.json");
  auto text = readText(file, json_kinds::config);
  if (!text)
    return text.takeError();
  llvm::Expected<llvm::json::Value> config =
      parseJson((*text)->getBuffer(), json_kinds::config);
  if (!config)
    return llvm::createStringError("'" + file.str().str() + "' is not JSON: " +
                                   llvm::toString(config.takeError()));
  if (!config->getAsObject())
    return llvm::createStringError("'" + file.str().str() +
                                   "' is no config.json");
  for (int64_t layers : {1, 2}) {
    if (std::error_code error = copies[layers - 1].create("json"))
      return llvm::createStringError("cannot make a temporary file: " +
                                     error.message());
    std::string copy = llvm::formatv("{0}", withLayers(*config, layers));
    if (llvm::Error error = writeFile(path(layers), {copy}))
      return error;
  }
  return llvm::Error::success();
}

std::string SampledModel::path(int64_t layers) const {
  return copies[layers - 1].path.str().str();
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Threads of a rank of the plan, on a CPU; 0: it has a GPU.
static int64_t threadsOf(const PlanOptions &plan,
                         const simulate::Cluster &cluster) {
  return cluster.byThreads.empty() ? 0 : cluster.threadsOf(plan.mesh.ranks());
}

std::string tessera::sampleKey(const PlanOptions &plan,
                               const simulate::Cluster &cluster) {
  return plan::keyOf(sampleOf(plan)) +
         std::to_string(threadsOf(plan, cluster)) +
         (isOfPipeline(plan) ? " of a pipeline" : "");
}

/// The machine as the plan's ranks have it: without stages, a sample has fewer
/// ranks, which must not get the cores of the other stages.
static simulate::Cluster sharedBy(const PlanOptions &plan,
                                  const simulate::Cluster &cluster) {
  simulate::Cluster shared = cluster.sharedBy(plan.mesh.ranks());
  shared.byThreads.clear();
  shared.software.alwaysDefers = isOfPipeline(plan);
  return shared;
}

static double coreShareOf(const PlanOptions &plan,
                          const simulate::Cluster &cluster) {
  int64_t cores = cluster.nodes * cluster.coresPerNode;
  int64_t ranks = plan.mesh.ranks() / plan.mesh.sizeOf(MeshAxis::Pipeline);
  int64_t used = ranks * threadsOf(plan, cluster);
  return used == 0 ? 0
                   : std::min(1.0, static_cast<double>(used) /
                                       static_cast<double>(cores));
}

static std::string problemOf(const Sample &sample) {
  for (const auto &ofLayers : sample.of)
    for (const Evaluation &of : ofLayers)
      if (!of.problem.empty())
        return of.problem;
  return "";
}

Sample tessera::takeSample(const SampledModel &model, const PlanOptions &plan,
                           const simulate::Cluster &machines) {
  Sample sample;
  sample.coreShare = coreShareOf(plan, machines);
  simulate::Cluster cluster = sharedBy(plan, machines);
  for (int64_t layers : {1, 2}) {
    Evaluation *of = sample.of[layers - 1];
    if (isSingle(plan))
      of[0] = of[1] = evaluatePlan(model.path(layers), sampleOf(plan), cluster,
                                   Verification::AfterEachPass);
    else
      std::tie(of[0], of[1]) =
          evaluateMicroBatches(model.path(layers), sampleOf(plan), cluster);
    if (!problemOf(sample).empty())
      return sample;
  }
  return sample;
}

namespace {

/// `fixed + layers * ofLayer`.
struct Linear {
  double fixed = 0, ofLayer = 0;
  double at(double layers) const { return fixed + layers * ofLayer; }
};

} // namespace

/// A model of two stacks has two layers in its smallest sample. 0: not known.
static double layersIn(const Evaluation &of) {
  size_t layers = 0;
  for (const std::vector<int64_t> &chunk : of.chunks)
    layers += chunk.size();
  return static_cast<double>(layers);
}

/// Draws a line through the samples of few and of more layers.
static Linear lineThrough(const Sample &sample, double few, double more) {
  double least = layersIn(sample.of[0][0]), most = layersIn(sample.of[1][0]);
  if (least == 0 || most <= least)
    least = 1, most = 2;
  double ofLayer = (more - few) / (most - least);
  return {few - ofLayer * least, ofLayer};
}

/// Returns the seconds that each micro-batch adds; nothing where there is but
/// one.
static Linear microBatchSeconds(const Sample &sample) {
  auto each = [&](int layers) {
    return sample.of[layers][1].seconds - sample.of[layers][0].seconds;
  };
  return lineThrough(sample, each(0), each(1));
}

/// Returns the seconds of work that is done once in a step: reductions of
/// gradients, the optimizer.
static Linear stepSeconds(const Sample &sample) {
  auto once = [&](int layers) {
    const Evaluation *of = sample.of[layers];
    return std::max(0.0, of[1].seconds - Sample::kMicroBatches *
                                             (of[1].seconds - of[0].seconds));
  };
  return lineThrough(sample, once(0), once(1));
}

/// Returns the bytes of the kinds that micro-batches in flight have each, or of
/// all others.
static Linear bytesOf(const Sample &sample, bool ofActivations) {
  auto sum = [&](int layers) {
    double bytes = 0;
    for (const auto &[kind, size] : sample.of[layers][0].memory)
      if ((kind == "activations") == ofActivations)
        bytes += static_cast<double>(size);
    return bytes;
  };
  return lineThrough(sample, sum(0), sum(1));
}

/// Micro-batches that the first stage keeps at once (interleaved: Narayanan et
/// al. 2021).
static double inFlight(const PlanOptions &plan, double stages) {
  double count = static_cast<double>(plan.sizes.microBatches);
  if (plan.stages.schedule == ScheduleKind::GPipe)
    return count;
  double chunks = static_cast<double>(plan.stages.virtualStages);
  double more = chunks > 1 ? (stages - 1) / chunks : 0;
  return std::min(count, stages + more);
}

/// Returns the steps of a micro-batch during which a stage is idle.
static double bubbleOf(const PlanOptions &plan, double stages) {
  double bubble = (stages - 1) / static_cast<double>(plan.stages.virtualStages);
  // Backward of the weights fills it (Qi et al. 2024).
  return plan.stages.schedule == ScheduleKind::ZeroBubble ? bubble / 3 : bubble;
}

/// Returns the layers of the largest stage. Where there are fewer layers than
/// stages, they are cut between attention and feed-forward.
static double mostLayers(int64_t layers, int64_t stages) {
  int64_t parts = stages > layers ? 2 : 1;
  return static_cast<double>(llvm::divideCeil(layers * parts, stages)) /
         static_cast<double>(parts);
}

std::optional<LayerCost> tessera::layerCost(const Sample &sample,
                                            const PlanOptions &plan) {
  if (!problemOf(sample).empty())
    return std::nullopt;
  auto count = static_cast<double>(plan.sizes.microBatches);
  return LayerCost{count * microBatchSeconds(sample).ofLayer +
                       stepSeconds(sample).ofLayer,
                   bytesOf(sample, /*ofActivations=*/true).ofLayer};
}

double tessera::withBubble(const PlanOptions &plan) {
  auto stages = static_cast<double>(plan.mesh.sizeOf(MeshAxis::Pipeline));
  return 1 +
         bubbleOf(plan, stages) / static_cast<double>(plan.sizes.microBatches);
}

Estimate tessera::estimate(const Sample &sample, const PlanOptions &plan,
                           int64_t layers) {
  if (std::string problem = problemOf(sample); !problem.empty())
    return {problem, 0, 0};
  int64_t stages = plan.mesh.sizeOf(MeshAxis::Pipeline);
  auto count = static_cast<double>(stages), all = static_cast<double>(layers);
  double ofStage = mostLayers(layers, stages);
  Linear micro = microBatchSeconds(sample), once = stepSeconds(sample);
  // The compiler balances stages, but cuts at some places only.
  double seconds = std::max(micro.ofLayer * ofStage, micro.at(all) / count);
  double steps =
      static_cast<double>(plan.sizes.microBatches) + bubbleOf(plan, count);
  Linear state = bytesOf(sample, false), kept = bytesOf(sample, true);
  double bytes = state.fixed / std::min(count, 2.0) + state.ofLayer * ofStage +
                 kept.fixed / count +
                 kept.ofLayer * ofStage * inFlight(plan, count);
  double inStages =
      steps * seconds + once.fixed / count + once.ofLayer * ofStage;
  // All work of all stages, where they share cores.
  double onCores =
      sample.coreShare *
      (static_cast<double>(plan.sizes.microBatches) * micro.at(all) +
       once.at(all));
  return {"", std::max(inStages, onCores), bytes};
}
