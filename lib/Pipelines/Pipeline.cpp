//===- Pipeline.cpp - the passes of the compiler, in order ----------------===//

#include "tessera/Pipelines/Pipeline.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Transforms/Passes.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Memory/Passes.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Target/Passes.h"

using namespace mlir;
using namespace tessera;

/// Size of the axis of stages in "pp=2,dp=4"; dist-distribute refuses what is
/// malformed.
static int64_t stagesOf(StringRef mesh) {
  SmallVector<StringRef> parts;
  mesh.split(parts, ',');
  int64_t stages = 1;
  for (StringRef part : parts)
    if (auto [name, size] = part.split('=');
        name.trim() == kPipelineAxis && size.trim().getAsInteger(10, stages))
      return 1;
  return stages;
}

/// Stages, and owners, run programs of their own and send each other messages.
static bool isOneProgram(const PipelineOptions &options) {
  return stagesOf(options.mesh) <= 1 && !options.parameterServer;
}

void tessera::buildDistributePipeline(OpPassManager &passes,
                                      const PipelineOptions &options) {
  if (options.precision == "bf16")
    passes.addPass(createMixedPrecisionPass());
  if (options.layoutInvariant)
    passes.addPass(createFixOrderPass({options.layoutInvariant}));
  if (int64_t stages = stagesOf(options.mesh); stages > 1) {
    AssignStagesPassOptions chunks;
    chunks.stages = stages;
    chunks.virtualStages = options.virtualStages;
    chunks.layers.assign(options.stageLayers.begin(),
                         options.stageLayers.end());
    passes.addPass(createAssignStagesPass(chunks));
  }
  passes.addPass(
      createDistributePass({options.mesh, options.sequenceParallel,
                            options.zero > 0, options.contextParallel}));
  passes.addPass(createDifferentiatePass());
  if (options.recompute != "none")
    passes.addPass(
        createRecomputePass({options.recompute, options.recomputeLayers}));
  if (options.zero == 3)
    passes.addPass(createRegatherPass());
  passes.addPass(createMicroBatchPass({options.microBatches, options.zero}));
  if (options.parameterServer)
    passes.addPass(createAssignOwnersPass());
  AddOptimizerPassOptions adamw;
  adamw.beta1 = options.beta1;
  adamw.beta2 = options.beta2;
  adamw.epsilon = options.epsilon;
  adamw.weightDecay = options.weightDecay;
  adamw.clip = options.clip;
  passes.addPass(createAddOptimizerPass(adamw));
  if (options.layoutInvariant)
    passes.addPass(createMarkAddendsPass());
}

void tessera::buildLowerPipeline(OpPassManager &passes,
                                 const PipelineOptions &options) {
  if (options.keepValues)
    passes.addPass(createNumberValuesPass());
  if (stagesOf(options.mesh) > 1)
    passes.addPass(createSplitStagesPass({options.schedule}));
  if (options.parameterServer)
    passes.addPass(createSplitOwnersPass());
  passes.addPass(createLocalizePass({options.keepValues}));
  buildLowerLocalPipeline(passes, options);
}

void tessera::buildLowerLocalPipeline(OpPassManager &passes,
                                      const PipelineOptions &options) {
  passes.addPass(
      createExpandMicroBatchesPass({options.overlap && isOneProgram(options)}));
  passes.addPass(createRoundOperandsPass());
  passes.addPass(createCSEPass());
  // No CSE behind it: what is normalized again in backward is meant to be.
  passes.addPass(createDecomposePass());
  passes.addPass(createLowerRingsPass());
  passes.addPass(createLowerExpertsPass());
  passes.addPass(createLowerLibraryPass());
  if (options.device == "cuda" && options.gemmEpilogues)
    passes.addPass(createGemmEpiloguesPass());
  passes.addPass(createRecomputeElementwisePass({options.device == "cuda"}));
  passes.addPass(createFormKernelsPass());
  passes.addPass(createCSEPass());
  if (options.device == "cuda")
    passes.addPass(createPadRowsPass());
}

void tessera::buildCommunicatePipeline(OpPassManager &passes,
                                       const PipelineOptions &options) {
  passes.addPass(createMergeCollectivesPass({options.bucketBytes}));
  if (!options.overlap)
    return;
  passes.addPass(createOverlapCollectivesPass());
  if (!isOneProgram(options))
    passes.addPass(createOverlapMessagesPass());
}

void tessera::buildMemoryPipeline(OpPassManager &passes,
                                  const PipelineOptions &options) {
  passes.addPass(createAnnotateSharingPass());
  passes.addPass(createInsertCopiesPass());
  passes.addPass(createPlanMemoryPass());
  passes.addPass(createCheckMemoryPass());
  if (!isOneProgram(options))
    passes.addPass(createCheckMessagesPass());
}

void tessera::buildCodePipeline(OpPassManager &passes,
                                const PipelineOptions &options) {
  passes.addPass(createAttachMetadataPass());
  // Host code takes the addresses of kernels, so these come first.
  if (options.device == "cuda")
    passes.addPass(createConvertKernelToNVVMPass({options.emulate}));
  else
    passes.addPass(createConvertKernelToLLVMPass({options.vectorBits}));
  passes.addPass(createLowerKernelsPass());
  passes.addPass(createConvertRTToLLVMPass());
  // Scalars are all that is left to convert.
  passes.addPass(createArithToLLVMConversionPass());
  if (options.emulate)
    passes.addPass(createEmulateGridPass({options.emulateLaunches}));
}

void tessera::buildCompilePipeline(OpPassManager &passes,
                                   const PipelineOptions &options) {
  buildDistributePipeline(passes, options);
  buildLowerPipeline(passes, options);
  buildCommunicatePipeline(passes, options);
  buildMemoryPipeline(passes, options);
  buildCodePipeline(passes, options);
}
