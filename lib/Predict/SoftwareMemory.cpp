//===- SoftwareMemory.cpp - what other software keeps ---------------------===//

#include "tessera/Predict/SoftwareMemory.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Program/PartName.h"
#include "tessera/Text/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;
using mlir::failure;
using mlir::FailureOr;
using mlir::MLIRContext;
using simulate::KeptBytes;

namespace {

/// The tensors of a typed step, without its context.
struct StepTensors {
  std::vector<SavedTensor> saved;
  std::vector<HeldParameter> parameters;
  bool hasExperts = false;
};

/// Bytes of one micro-batch in a chunk of the pipeline.
struct ChunkBytes {
  double all = 0, layers = 0;
};

/// Counts what the software keeps of a step.
class Accounting {
public:
  Accounting(const simulate::Cluster &cluster, const PlannedModel &options,
             const program::LayerModes &modes)
      : kept(*cluster.software.memory),
        storesScores(!cluster.attention.isFused), modes(modes),
        zero(options.plan.strategies.zero) {}

  double bytesOf(const SavedTensor &tensor) const;
  MemoryKinds bytesOf(const HeldParameter &parameter) const;

private:
  const KeptBytes &kept;
  bool storesScores;
  const program::LayerModes &modes;
  ZeroStage zero;
};

} // namespace

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Such software keeps all that backward reads, or nothing of a layer but its
/// input: what Tessera's selective recomputation leaves out is kept.
static MemoryOptions wholeLayersOf(const MemoryOptions &given,
                                   const program::LayerModes &modes,
                                   ArrayRef<StringRef> layers) {
  MemoryOptions whole = given;
  whole.recompute = Recompute::None;
  whole.recomputeLayers = -1;
  whole.layerRecompute = {};
  for (auto [index, layer] : enumerate(layers))
    if (auto number = static_cast<int64_t>(index);
        modes.modeOf(layer) == Recompute::Full)
      whole.layerRecompute.ranges.push_back({number, number, Recompute::Full});
  return whole;
}

static FailureOr<StepTensors> readStep(MLIRContext &context,
                                       const PlannedModel &options,
                                       const program::LayerModes &modes) {
  auto module = importModel(&context, options.model,
                            importOptions(options, Choices::Silent));
  if (failed(module))
    return failure();
  auto model = nn::findProgram(**module, "loss");
  if (failed(model))
    return failure();
  PlanOptions plan = planOf(options, **module);
  plan.memory = wholeLayersOf(plan.memory, modes, layersOf(*model));
  plan.debugging.dumpDirectory.clear();
  plan.debugging.reproducer.clear();
  if (failed(distributeToStep(**module, plan)))
    return failure();
  auto step = nn::findProgram(**module, "step");
  if (failed(step))
    return failure();
  StepTensors tensors{savedTensors(*step), heldParameters(*step)};
  step->walk([&](nn::TopKOp) { tensors.hasExperts = true; });
  return tensors;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

double Accounting::bytesOf(const SavedTensor &tensor) const {
  auto elements = static_cast<double>(tensor.elements);
  // Selective recomputation makes scores again (Korthikanti et al. 2022,
  // section 5), and nothing else.
  bool keepsScores =
      storesScores && modes.modeOf(tensor.part) != Recompute::Selective;
  switch (tensor.kind) {
  case SavedTensor::Activation:
    return elements * (tensor.isOfLoss
                           ? static_cast<double>(tensor.bytesOfElement)
                           : kept.activation);
  case SavedTensor::Mask:
    return elements * kept.mask;
  case SavedTensor::LogSumExp:
    return storesScores ? 0
                        : elements * static_cast<double>(tensor.bytesOfElement);
  case SavedTensor::Softmax:
  case SavedTensor::DroppedSoftmax:
    return keepsScores ? elements * kept.activation : 0;
  case SavedTensor::SoftmaxMask:
    return keepsScores ? elements * kept.mask : 0;
  }
  llvm_unreachable("every kind is a case");
}

/// ZeRO splits the optimizer's part, then gradients, then weights.
MemoryKinds Accounting::bytesOf(const HeldParameter &parameter) const {
  auto elements = [&](bool isSplit) {
    return static_cast<double>(isSplit ? parameter.atRest : parameter.whole);
  };
  MemoryKinds bytes;
  bytes.weights = elements(zero >= ZeroStage::Parameters) * kept.weight;
  if (!parameter.isTrained)
    return bytes;
  bytes.gradients = elements(zero >= ZeroStage::Gradients) * kept.gradient;
  bytes.optimizer = elements(true) * kept.optimizer;
  return bytes;
}

static MemoryKinds &operator+=(MemoryKinds &a, const MemoryKinds &b) {
  a.weights += b.weights;
  a.gradients += b.gradients;
  a.optimizer += b.optimizer;
  a.activations += b.activations;
  return a;
}

static void addParameters(SoftwareMemory &memory, const Accounting &accounting,
                          ArrayRef<HeldParameter> parameters) {
  for (const HeldParameter &parameter : parameters)
    for (auto [number, stage] : enumerate(memory.stages)) {
      if (!parameter.stages.empty() && !parameter.stages.count(number))
        continue;
      MemoryKinds bytes = accounting.bytesOf(parameter);
      stage.all += bytes;
      if (program::layerOfPart(parameter.name).number >= 0)
        stage.layers += bytes;
    }
}

static void addSaved(SoftwareMemory &memory, const SavedTensor &tensor,
                     double bytes) {
  int64_t layer = program::layerOfPart(tensor.part).number;
  auto stages = static_cast<int64_t>(memory.stages.size());
  SavedGroup group{nameOf(tensor.kind),
                   tensor.op,
                   program::placeOf(tensor.part),
                   {},
                   tensor.chunk % stages};
  auto same = find_if(memory.saved, [&](const SavedGroup &other) {
    return other.kind == group.kind && other.op == group.op &&
           other.place == group.place && other.stage == group.stage;
  });
  if (same == memory.saved.end())
    same = memory.saved.insert(same, std::move(group));
  if (layer >= 0)
    same->layers.insert(layer);
  ++same->count;
  same->bytes += bytes;
}

/// The most that a stage keeps at a time: a micro-batch of a chunk from its
/// forward task to its last one.
static ChunkBytes peakOf(ArrayRef<pipeline::Task> tasks, bool splitsBackward,
                         ArrayRef<ChunkBytes> chunks) {
  pipeline::TaskKind last = splitsBackward ? pipeline::TaskKind::Weights
                                           : pipeline::TaskKind::Backward;
  ChunkBytes now, peak;
  for (const pipeline::Task &task : tasks) {
    int sign = task.kind == pipeline::TaskKind::Forward ? 1
               : task.kind == last                      ? -1
                                                        : 0;
    now.all += sign * chunks[task.chunk].all;
    now.layers += sign * chunks[task.chunk].layers;
    if (now.all > peak.all)
      peak = now;
  }
  return peak;
}

static void addActivations(SoftwareMemory &memory,
                           const std::optional<PipelineReport> &pipeline,
                           ArrayRef<ChunkBytes> chunks) {
  for (auto [number, stage] : enumerate(memory.stages)) {
    ChunkBytes peak = chunks[0];
    if (pipeline)
      peak = peakOf(pipeline->schedule.stages[number],
                    pipeline->schedule.splitsBackward(), chunks);
    stage.all.activations = peak.all;
    stage.layers.activations = peak.layers;
  }
}

static SoftwareMemory memoryOf(const StepTensors &step,
                               const Accounting &accounting,
                               const std::optional<PipelineReport> &pipeline) {
  SoftwareMemory memory;
  memory.stages.resize(pipeline ? pipeline->schedule.shape.stages : 1);
  std::vector<ChunkBytes> chunks(pipeline ? pipeline->schedule.shape.chunks()
                                          : 1);
  addParameters(memory, accounting, step.parameters);
  for (const SavedTensor &tensor : step.saved) {
    double bytes = accounting.bytesOf(tensor);
    if (bytes == 0)
      continue;
    chunks[tensor.chunk].all += bytes;
    if (program::layerOfPart(tensor.part).number >= 0)
      chunks[tensor.chunk].layers += bytes;
    addSaved(memory, tensor, bytes);
  }
  addActivations(memory, pipeline, chunks);
  return memory;
}

static SoftwareMemory unknownMemory(const char *why) {
  SoftwareMemory memory;
  memory.unknown = why;
  return memory;
}

FailureOr<SoftwareMemory>
tessera::softwareMemory(MLIRContext &context, const PlannedModel &options,
                        Precision precision, const simulate::Cluster &cluster,
                        const Report &report) {
  if (options.isArtifact())
    return unknownMemory("an artifact has no typed program; give its model");
  if (precision != Precision::BF16)
    return unknownMemory("the facts are those of programs in bf16");
  FailureOr<StepTensors> step =
      readStep(context, options, *report.program.layers);
  if (failed(step))
    return failure();
  // The typed program has a row for each expert and token.
  if (step->hasExperts)
    return unknownMemory("how it stores rows of experts is not described");
  return memoryOf(*step, Accounting(cluster, options, *report.program.layers),
                  report.pipeline);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

size_t SoftwareMemory::largest() const {
  return std::max_element(stages.begin(), stages.end(),
                          [](const StageMemory &a, const StageMemory &b) {
                            return a.all.total() < b.all.total();
                          }) -
         stages.begin();
}

std::string SoftwareMemory::text(size_t width) const {
  if (!unknown.empty())
    return "memory as this software keeps it: not known, " + unknown + "\n";
  const StageMemory &most = stages[largest()];
  auto bytes = [](double count) {
    return bytesText(static_cast<int64_t>(count));
  };
  std::string text = formatv(
      "memory as this software keeps it: {0}{1}\n", bytes(most.all.total()),
      stages.size() > 1 ? formatv(" in stage {0}, the most", largest()).str()
                        : "");
  Table table({"kind", "all", "of layers"});
  auto row = [&](const char *kind, double all, double layers) {
    table.add({kind, bytes(all), bytes(layers)});
  };
  row("weights", most.all.weights, most.layers.weights);
  row("gradients", most.all.gradients, most.layers.gradients);
  row("optimizer", most.all.optimizer, most.layers.optimizer);
  row("activations", most.all.activations, most.layers.activations);
  return text + table.str(width);
}

json::Object MemoryKinds::json() const {
  return json::Object{{"weights", weights},
                      {"gradients", gradients},
                      {"optimizer", optimizer},
                      {"activations", activations}};
}

json::Object SoftwareMemory::json() const {
  if (!unknown.empty())
    return json::Object{{"unknown", unknown}};
  json::Array list, groups;
  for (const StageMemory &stage : stages)
    list.push_back(json::Object{{"by_kind", stage.all.json()},
                                {"of_layers", stage.layers.json()}});
  for (const SavedGroup &group : saved)
    groups.push_back(
        json::Object{{"kind", group.kind},
                     {"op", group.op},
                     {"where", program::placeText(group.place, group.layers)},
                     {"stage", group.stage},
                     {"count", group.count},
                     {"bytes", group.bytes}});
  return json::Object{{"stages", std::move(list)},
                      {"saved_by_micro_batch", std::move(groups)}};
}
