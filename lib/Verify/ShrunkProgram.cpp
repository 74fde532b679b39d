//===- ShrunkProgram.cpp - programs of small models of the same make ------===//

#include "lib/Verify/ShrunkProgram.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Target/TemporaryFile.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace tessera;

/// One rank, every value made once. Sums keep their order.
static void makeSerial(PlanOptions &plan) {
  const int64_t layoutInvariant = plan.strategies.layoutInvariant;
  plan.mesh = {};
  plan.strategies = {};
  plan.strategies.layoutInvariant = layoutInvariant;
  plan.stages = {};
  plan.memory = {};
  plan.debugging.dumpDirectory.clear();
}

/// About two sequences per rank of `dp` and `ep` and micro-batch, with the same
/// remainder as the plan's.
static int64_t smallBatch(const PlanOptions &plan) {
  int64_t micro = std::max<int64_t>(1, plan.sizes.microBatches);
  int64_t ranks = plan.mesh.lanes();
  if (!plan.sizes.batch || plan.sizes.batch % micro)
    return 2 * micro * ranks;
  return micro * shrunkSize(plan.sizes.batch / micro, 2 * ranks, ranks);
}

/// Returns layers enough for every chunk of the pipeline (a layer is two
/// segments, and what is before and after the layers is one each), and for
/// those that options name. If the first layers are recomputed, one more is
/// not.
static int64_t smallLayers(const PlanOptions &plan) {
  constexpr int64_t usual = 2;
  int64_t least = std::clamp(plan.memory.recomputeLayers + 1, usual, usual + 1);
  for (const LayerRange &range : plan.memory.layerRecompute.ranges)
    least = std::max(least, range.last + 1);
  for (const Layers &range : plan.strategies.replicatedLayers.ranges)
    least = std::max(least, range.last + 1);
  const StageOptions &stages = plan.stages;
  if (!stages.layers.empty())
    return std::accumulate(stages.layers.begin(), stages.layers.end(),
                           int64_t(0));
  int64_t chunks = stages.virtualStages * plan.mesh.sizeOf(MeshAxis::Pipeline);
  return std::max(least, (chunks - 1) / 2);
}

/// Returns whether names of what is trained or decays may say which layer they
/// mean: then the others are needed, too.
static bool namesLayers(const PlanOptions &plan) {
  auto hasNumber = [](const NamePattern &pattern) {
    return llvm::any_of(pattern.str(), [](char c) { return llvm::isDigit(c); });
  };
  if (!plan.training.frozen.empty() ||
      llvm::any_of(plan.optimizer.noDecay, hasNumber))
    return true;
  return llvm::any_of(plan.training.lora.targets, [](StringRef target) {
    SmallVector<StringRef> parts;
    target.split(parts, '.');
    int64_t number;
    return llvm::any_of(
        parts, [&](StringRef part) { return !part.getAsInteger(10, number); });
  });
}

/// A ring cuts the sequence into two chunks for each rank.
static int64_t sequenceRanks(const PlanOptions &plan) {
  int64_t ranks = plan.mesh.sizeOf(MeshAxis::Context);
  if (plan.strategies.contextParallel == ContextParallel::Ring)
    ranks *= 2;
  if (plan.strategies.sequenceParallel)
    ranks *= plan.mesh.sizeOf(MeshAxis::Tensor);
  return ranks;
}

static ShrinkOptions shrinkOptions(const PlanOptions &plan) {
  ShrinkOptions shrink;
  shrink.layers = namesLayers(plan) ? std::numeric_limits<int64_t>::max()
                                    : smallLayers(plan);
  shrink.sequenceRanks = sequenceRanks(plan);
  shrink.tensorRanks = plan.mesh.sizeOf(MeshAxis::Tensor);
  shrink.headRanks = shrink.tensorRanks * plan.mesh.sizeOf(MeshAxis::Context);
  shrink.dataRanks =
      plan.mesh.sizeOf(MeshAxis::Replica) * plan.mesh.sizeOf(MeshAxis::Data);
  return shrink;
}

/// Above every element of a clipped gradient, and of a shrunk model's.
static constexpr double kGradientScale = 1.0;

/// Returns the sizes of a small model; a program keeps its own.
static ImportOptions shrunkImport(const PlannedModel &options,
                                  Precision precision) {
  ImportOptions import;
  import.precision = precision;
  import.forEncoding = encodes(options.plan.programs);
  import.forGeneration = generates(options.plan.programs);
  if (options.isProgram())
    return import;
  const SizeOptions &sizes = options.plan.sizes;
  import.shrink = shrinkOptions(options.plan);
  import.sizes.batch = smallBatch(options.plan);
  import.sizes.microBatches = sizes.microBatches;
  import.sizes.ignoresLabels = sizes.ignoresLabels;
  import.sizes.documentMask = sizes.documentMask;
  import.sizes.separator = sizes.separator;
  import.sizes.paddingMask = sizes.paddingMask;
  import.sizes.specialIds = sizes.specialIds;
  int64_t sequence = options.plan.programs == ProgramSet::Generate
                         ? options.plan.generation.length
                         : sizes.sequence;
  if (sequence) {
    ShrinkOptions &shrink = *import.shrink;
    shrink.sequence = sequence;
    import.sizes.sequence =
        shrunkSize(sequence, shrink.positions, shrink.sequenceRanks);
    shrink.positions = std::max(shrink.positions, import.sizes.sequence);
  }
  return import;
}

/// Changes the plan of the program of full size, which may have more layers
/// than `module`, so that programs can be compared.
static void makeComparable(ModuleOp module, PlanOptions &plan,
                           Precision precision) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  if (auto layers = model ? model.getAs<IntegerAttr>("layers") : nullptr)
    plan.memory.recomputeLayers =
        std::min(plan.memory.recomputeLayers, layers.getInt());
  if (precision == Precision::F64)
    plan.device.target = {};
  plan.precision = precision;
  plan.memory.limit = 0; // for the whole model
  plan.debugging.poisonPadding = true;
  plan.debugging.optimizeCode = precision != Precision::F64;
}

static void makeFormulas(PlanOptions &plan) {
  plan.debugging.decomposeLayers = true;
  plan.evaluation = false;
}

LogicalResult tessera::createProgramFile(MLIRContext &context,
                                         TemporaryFile &file) {
  if (std::error_code error = file.create("tsr"))
    return emitFailure(context, describeTemporary(error));
  return success();
}

/// Returns the plan of a small model's program.
static PlanOptions shrunkPlan(const PlannedModel &options, ModuleOp module,
                              const ShrunkProgram &program) {
  PlanOptions plan = planOf(options, module);
  if (program.side != Side::Parallel) {
    makeSerial(plan);
    plan.device.target = {};
    plan.device.gemmEpilogues = DeviceOptions().gemmEpilogues;
  }
  if (program.side == Side::Formulas)
    makeFormulas(plan);
  makeComparable(module, plan, program.precision);
  plan.debugging.keepValues = true;
  // A small epsilon makes AdamW's first steps signs of gradients: of those that
  // f32 or bf16 barely resolves, either sign. A large one keeps what is
  // compared proportional to the gradients; f64 has the real one.
  if (program.optimizer != Precision::F64)
    plan.optimizer.epsilon = kGradientScale;
  return plan;
}

FailureOr<Formulation> tessera::compileShrunk(MLIRContext &context,
                                              const PlannedModel &options,
                                              const ShrunkProgram &program,
                                              const std::string &path) {
  auto module = importModel(&context, options.model,
                            shrunkImport(options, program.precision));
  if (failed(module) ||
      failed(compileToArtifact(**module, shrunkPlan(options, **module, program),
                               path)))
    return failure();
  return formulationOf(**module);
}

/// A few requests at a time, and chunks of prompts that are shorter than these;
/// candidates may be more than a rank of tp has.
static GenerationOptions smallGeneration(const PlanOptions &plan) {
  constexpr int64_t slots = 3, chunk = 5, candidates = 20;
  int64_t lanes = plan.mesh.lanes();
  GenerationOptions small = plan.generation;
  small.batch = std::min(small.batch, slots * lanes);
  small.chunk = std::min(small.chunk, chunk);
  small.candidates = std::min(small.candidates, candidates);
  return small;
}

/// Imports a small model and compiles its forward program.
static FailureOr<ForwardProgram>
compileShrunkForward(MLIRContext &context, const PlannedModel &options,
                     Precision precision, const ImportOptions &import,
                     const std::string &path) {
  auto whole = importModel(&context, options.model, import);
  if (failed(whole))
    return failure();
  return compileForward(**whole, precision, path);
}

FailureOr<ForwardProgram> tessera::compileShrunkGeneration(
    MLIRContext &context, const PlannedModel &options, Precision precision,
    const InferencePaths &paths) {
  constexpr int64_t sequences = 3;
  ImportOptions import = shrunkImport(options, precision);
  if (!options.isProgram())
    import.sizes.batch = sequences;
  FailureOr<ForwardProgram> forward =
      compileShrunkForward(context, options, precision, import, paths.forward);
  if (failed(forward))
    return failure();
  if (!options.isProgram())
    import.sizes.batch = importOptions(options, Choices::Silent).sizes.batch;
  auto module = importModel(&context, options.model, import);
  if (failed(module))
    return failure();
  PlanOptions plan = planOf(options, **module);
  makeComparable(**module, plan, precision);
  plan.generation = smallGeneration(plan);
  if (failed(compileToArtifact(**module, plan, paths.program)))
    return failure();
  return forward;
}

FailureOr<ForwardProgram>
tessera::compileShrunkEncoding(MLIRContext &context,
                               const PlannedModel &options, Precision precision,
                               const InferencePaths &paths) {
  constexpr int64_t predictions = 3;
  ImportOptions import = shrunkImport(options, precision);
  const int64_t batch = import.sizes.batch;
  if (!options.isProgram()) // more than one step, the last of them not full
    import.sizes.batch = 2 * batch - 1;
  FailureOr<ForwardProgram> forward =
      compileShrunkForward(context, options, precision, import, paths.forward);
  if (failed(forward))
    return failure();
  import.sizes.batch = batch;
  auto module = importModel(&context, options.model, import);
  if (failed(module))
    return failure();
  PlanOptions plan = planOf(options, **module);
  makeComparable(**module, plan, precision);
  if (!forward->isEncoderAlone)
    plan.encoding.predictions =
        plan.encoding.predictions
            ? std::min(plan.encoding.predictions, predictions)
            : predictions;
  if (failed(compileToArtifact(**module, plan, paths.program)))
    return failure();
  return forward;
}
