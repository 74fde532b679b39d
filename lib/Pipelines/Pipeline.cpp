//===- Pipeline.cpp - the passes of the compiler, in order ----------------===//

#include "tessera/Pipelines/Pipeline.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Transforms/Passes.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Inference/Passes.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Memory/Passes.h"
#include "tessera/Model/Passes.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Target/Passes.h"
#include "tessera/Train/Passes.h"

using namespace mlir;
using namespace tessera;

static int64_t stagesOf(const PlanOptions &plan) {
  return plan.mesh.sizeOf(MeshAxis::Pipeline);
}

static bool hasOwners(const PlanOptions &plan) {
  return plan.strategies.dpSync == DpSync::ParameterServer;
}

/// Stages, and owners, run programs of their own and send each other messages.
static bool isOneProgram(const PlanOptions &plan) {
  return stagesOf(plan) <= 1 && !hasOwners(plan);
}

/// Sequence parallelism gathers again, whatever else is kept.
static std::string recomputeMode(const PlanOptions &plan, Recompute mode) {
  bool gathers = mode == Recompute::None && plan.strategies.sequenceParallel;
  return gathers ? "gathers" : nameOf(mode);
}

static RecomputePassOptions recomputeOptions(const PlanOptions &plan) {
  RecomputePassOptions options;
  options.mode = recomputeMode(plan, plan.memory.recompute);
  options.layers = plan.memory.recomputeLayers;
  for (const LayerRange &range : plan.memory.layerRecompute.ranges)
    options.ranges.push_back(range.layers() + "=" +
                             recomputeMode(plan, range.recompute));
  return options;
}

static DistributePassOptions distributeOptions(const PlanOptions &plan) {
  const StrategyOptions &strategies = plan.strategies;
  DistributePassOptions options;
  options.mesh = plan.mesh.str();
  options.sequenceParallel = strategies.sequenceParallel;
  for (const Layers &range : strategies.replicatedLayers.ranges)
    options.replicatedLayers.push_back(range.layers());
  options.zero = strategies.zero != ZeroStage::None;
  options.splitsFrozen = strategies.zero == ZeroStage::Parameters;
  options.contextParallel = nameOf(strategies.contextParallel);
  return options;
}

/// Twice the even share, by default, is seldom too little in training; in
/// generation there are few rows, and a round costs more than their memory.
static BoundRowsPassOptions boundRowsOptions(const PlanOptions &plan) {
  constexpr double usual = 2;
  bool pairs = plan.device.hasCudaKernels(); // messages are of fixed sizes
  if (plan.memory.expertBuffer >= 0)
    return {plan.memory.expertBuffer, /*raise=*/false, pairs};
  bool isBounded = plan.mesh.sizeOf(MeshAxis::Expert) > 1 &&
                   plan.programs == ProgramSet::Train;
  return {isBounded ? usual : 0, /*raise=*/true, pairs};
}

static AddLoraPassOptions optionsOf(const LoraOptions &lora) {
  AddLoraPassOptions options;
  options.rank = lora.rank;
  options.alpha = lora.alpha;
  options.dropout = lora.dropout;
  options.targets.assign(lora.targets.begin(), lora.targets.end());
  return options;
}

static FreezeParametersPassOptions optionsOf(const NamePatterns &frozen) {
  FreezeParametersPassOptions options;
  for (const NamePattern &pattern : frozen)
    options.patterns.push_back(pattern.str());
  return options;
}

static ChooseDecayPassOptions decayOf(const PlanOptions &plan) {
  ChooseDecayPassOptions options;
  for (const NamePattern &pattern : plan.optimizer.noDecay)
    options.except.push_back(pattern.str());
  return options;
}

static AddOptimizerPassOptions optimizerOf(const PlanOptions &plan) {
  OptimizerOptions given = completed(plan.optimizer);
  AddOptimizerPassOptions options;
  options.optimizer = nameOf(given.kind);
  options.weightDecay = given.weightDecay;
  options.clip = given.clip;
  options.epsilon = given.epsilon;
  options.beta1 = given.beta1;
  options.beta2 = given.beta2;
  options.momentum = given.momentum;
  options.nesterov = given.nesterov;
  return options;
}

/// Builds the passes that change the serial model's parameters.
static void buildParametersPipeline(OpPassManager &passes,
                                    const PlanOptions &plan) {
  if (plan.training.lora.isGiven())
    passes.addPass(createAddLoraPass(optionsOf(plan.training.lora)));
  if (!plan.training.frozen.empty())
    passes.addPass(createFreezeParametersPass(optionsOf(plan.training.frozen)));
  if (!plan.optimizer.noDecay.empty())
    passes.addPass(createChooseDecayPass(decayOf(plan)));
}

static AddGenerationPassOptions generationOf(const PlanOptions &plan) {
  AddGenerationPassOptions sizes;
  sizes.lanes = plan.mesh.lanes();
  sizes.slots = plan.generation.batch / sizes.lanes;
  sizes.chunk = plan.generation.chunk;
  sizes.candidates = plan.generation.candidates;
  sizes.contextRanks = plan.mesh.sizeOf(MeshAxis::Context);
  sizes.tensorRanks = plan.mesh.sizeOf(MeshAxis::Tensor);
  sizes.besideTraining = trains(plan.programs);
  return sizes;
}

void tessera::buildPrecisionPipeline(OpPassManager &passes,
                                     const PlanOptions &plan) {
  if (plan.precision == Precision::BF16)
    passes.addPass(createMixedPrecisionPass({trains(plan.programs)}));
  if (plan.weights == WeightStorage::Int8)
    passes.addPass(createQuantizeWeightsPass());
}

/// Makes the program that encodes of the serial model.
static void buildEncodingPipeline(OpPassManager &passes,
                                  const PlanOptions &plan) {
  if (encodes(plan.programs))
    passes.addPass(createAddEncodingPass({plan.encoding.predictions}));
}

/// Makes the programs that generate of the serial model.
static void buildGenerationPipeline(OpPassManager &passes,
                                    const PlanOptions &plan) {
  if (generates(plan.programs))
    passes.addPass(createAddGenerationPass(generationOf(plan)));
}

void tessera::buildSerialGenerationPipeline(OpPassManager &passes,
                                            const PlanOptions &plan) {
  buildPrecisionPipeline(passes, plan);
  buildEncodingPipeline(passes, plan);
  buildGenerationPipeline(passes, plan);
}

/// Builds the passes that training alone needs, from the typed forward program
/// on.
static void buildTrainPipeline(OpPassManager &passes, const PlanOptions &plan) {
  const StrategyOptions &strategies = plan.strategies;
  const auto zero = static_cast<int64_t>(strategies.zero);
  passes.addPass(createDifferentiatePass());
  RecomputePassOptions again = recomputeOptions(plan);
  if (again.mode != nameOf(Recompute::None) || !again.ranges.empty())
    passes.addPass(createRecomputePass(again));
  if (strategies.zero == ZeroStage::Parameters)
    passes.addPass(createRegatherPass());
  passes.addPass(createMicroBatchPass(
      {std::max<int64_t>(1, plan.sizes.microBatches), zero}));
  if (hasOwners(plan))
    passes.addPass(createAssignOwnersPass());
  passes.addPass(createAddOptimizerPass(optimizerOf(plan)));
}

static void addDistributePasses(OpPassManager &passes,
                                const PlanOptions &plan) {
  const StrategyOptions &strategies = plan.strategies;
  const bool isTrained = trains(plan.programs);
  if (isTrained)
    buildParametersPipeline(passes, plan);
  if (plan.debugging.decomposeLayers)
    passes.addPass(createDecomposeLayersPass());
  buildPrecisionPipeline(passes, plan);
  if (strategies.layoutInvariant)
    passes.addPass(createFixOrderPass({strategies.layoutInvariant}));
  // An encoder alone is cut into stages without the decoder behind it.
  buildEncodingPipeline(passes, plan);
  if (int64_t stages = stagesOf(plan); stages > 1) {
    AssignStagesPassOptions chunks;
    chunks.stages = stages;
    chunks.virtualStages = plan.stages.virtualStages;
    chunks.layers.assign(plan.stages.layers.begin(), plan.stages.layers.end());
    passes.addPass(createAssignStagesPass(chunks));
  }
  if (plan.evaluation && isTrained)
    passes.addPass(createAddEvaluationPass());
  buildGenerationPipeline(passes, plan);
  passes.addPass(createDistributePass(distributeOptions(plan)));
  if (isTrained)
    buildTrainPipeline(passes, plan);
  passes.addPass(createMaskPaddingPass({plan.debugging.poisonPadding}));
  if (strategies.layoutInvariant)
    passes.addPass(createMarkChunkedSumsPass());
}

void tessera::buildSerialStepPipeline(OpPassManager &passes,
                                      const PlanOptions &plan) {
  PlanOptions serial = plan;
  serial.mesh = {};
  serial.memory.recompute = Recompute::None;
  serial.memory.layerRecompute = {};
  serial.strategies.dpSync = DpSync::AllReduce;
  serial.strategies.replicatedLayers = {};
  addDistributePasses(passes, serial);
}

static void addLowerPasses(OpPassManager &passes, const PlanOptions &plan) {
  if (plan.debugging.keepValues)
    passes.addPass(createNumberValuesPass());
  if (stagesOf(plan) > 1)
    passes.addPass(createSplitStagesPass({nameOf(plan.stages.schedule)}));
  if (hasOwners(plan))
    passes.addPass(createSplitOwnersPass());
  passes.addPass(createLocalizePass({plan.debugging.keepValues}));
  buildLowerLocalPipeline(passes, plan);
}

void tessera::buildLowerLocalPipeline(OpPassManager &passes,
                                      const PlanOptions &plan) {
  passes.addPass(createExpandMicroBatchesPass(
      {plan.communication.overlap && isOneProgram(plan)}));
  passes.addPass(createRoundOperandsPass());
  passes.addPass(createCSEPass());
  // No CSE after it: backward normalizes again on purpose.
  passes.addPass(createDecomposePass());
  passes.addPass(createLowerRingsPass());
  passes.addPass(createLowerExpertsPass());
  passes.addPass(createCompactRowsPass());
  if (BoundRowsPassOptions bound = boundRowsOptions(plan); bound.factor > 0)
    passes.addPass(createBoundRowsPass(bound));
  if (plan.device.hasCudaKernels())
    passes.addPass(createPackMessagesPass());
  passes.addPass(createLowerLibraryPass());
  if (plan.device.hasCudaKernels() && plan.device.gemmEpilogues)
    passes.addPass(createGemmEpiloguesPass());
  passes.addPass(
      createRecomputeElementwisePass({plan.device.hasCudaKernels()}));
  passes.addPass(createFormKernelsPass({plan.device.hasCudaKernels()}));
  passes.addPass(createCSEPass());
  if (plan.device.hasCudaKernels())
    passes.addPass(createPadRowsPass());
}

static void addCommunicatePasses(OpPassManager &passes,
                                 const PlanOptions &plan) {
  passes.addPass(createMergeCollectivesPass({plan.communication.bucketBytes}));
  BucketShardsPassOptions shards;
  shards.bucketBytes = plan.communication.bucketBytes;
  shards.largeBytes = 8 * std::min(shards.bucketBytes, INT64_MAX / 8);
  passes.addPass(createBucketShardsPass(shards));
  if (!plan.communication.overlap)
    return;
  passes.addPass(createOverlapCollectivesPass());
  if (!isOneProgram(plan))
    passes.addPass(createOverlapMessagesPass());
}

static void addMemoryPasses(OpPassManager &passes, const PlanOptions &plan) {
  passes.addPass(createAnnotateSharingPass());
  if (plan.device.hasCudaKernels())
    passes.addPass(createGroupLaunchesPass());
  passes.addPass(createInsertCopiesPass());
  passes.addPass(createPlanMemoryPass({plan.device.hasCudaKernels()}));
  passes.addPass(createCheckMemoryPass());
  if (!isOneProgram(plan))
    passes.addPass(createCheckMessagesPass());
}

static void addCodePasses(OpPassManager &passes, const PlanOptions &plan) {
  passes.addPass(createAttachMetadataPass());
  // Host code takes the addresses of kernels, so these come first.
  if (plan.device.hasCudaKernels()) {
    passes.addPass(createBatchLaunchesPass());
    passes.addPass(createConvertKernelToNVVMPass({plan.device.emulateGrid}));
  } else {
    passes.addPass(createConvertKernelToLLVMPass(
        {static_cast<unsigned>(plan.device.vectorBits)}));
  }
  passes.addPass(createLowerKernelsPass());
  passes.addPass(createConvertRTToLLVMPass());
  // Scalars are all that is left to convert.
  passes.addPass(createArithToLLVMConversionPass());
  if (plan.device.emulateGrid)
    passes.addPass(createEmulateGridPass({plan.device.target.isCuda()}));
}

static void addMetadataPass(OpPassManager &passes, const PlanOptions &) {
  passes.addPass(createAttachMetadataPass());
}

using AddPasses = void (*)(OpPassManager &, const PlanOptions &);

/// Adds the passes of all parts, or none if the plan is refused.
static LogicalResult build(OpPassManager &passes, const PlanOptions &plan,
                           RefusePlan refuse, ArrayRef<AddPasses> parts) {
  if (std::string why = checkPlan(plan); !why.empty())
    return refuse(why);
  for (AddPasses add : parts)
    add(passes, plan);
  return success();
}

LogicalResult tessera::buildDistributePipeline(OpPassManager &passes,
                                               const PlanOptions &plan,
                                               RefusePlan refuse) {
  return build(passes, plan, refuse, {addDistributePasses});
}

LogicalResult tessera::buildLowerPipeline(OpPassManager &passes,
                                          const PlanOptions &plan,
                                          RefusePlan refuse) {
  return build(passes, plan, refuse, {addLowerPasses});
}

LogicalResult tessera::buildCommunicatePipeline(OpPassManager &passes,
                                                const PlanOptions &plan,
                                                RefusePlan refuse) {
  return build(passes, plan, refuse, {addCommunicatePasses});
}

LogicalResult tessera::buildMemoryPipeline(OpPassManager &passes,
                                           const PlanOptions &plan,
                                           RefusePlan refuse) {
  return build(passes, plan, refuse, {addMemoryPasses});
}

LogicalResult tessera::buildCodePipeline(OpPassManager &passes,
                                         const PlanOptions &plan,
                                         RefusePlan refuse) {
  return build(passes, plan, refuse, {addCodePasses});
}

LogicalResult tessera::buildMetadataPipeline(OpPassManager &passes,
                                             const PlanOptions &plan,
                                             RefusePlan refuse) {
  return build(passes, plan, refuse,
               {addDistributePasses, addLowerPasses, addCommunicatePasses,
                addMemoryPasses, addMetadataPass});
}

LogicalResult tessera::buildCompilePipeline(OpPassManager &passes,
                                            const PlanOptions &plan,
                                            RefusePlan refuse) {
  return build(passes, plan, refuse,
               {addDistributePasses, addLowerPasses, addCommunicatePasses,
                addMemoryPasses, addCodePasses});
}
