//===- PlanOptions.cpp - the compiler's options from the driver's ---------===//

#include "tools/tessera/options/PlanOptions.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

static int64_t microBatchesOf(ModuleOp module) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto count = model.getAs<IntegerAttr>("micro_batches");
  return count ? count.getInt() : 1;
}

static void setStrategies(CompileOptions &compile,
                          const DriverOptions &options) {
  compile.mesh = options.mesh;
  compile.sequenceParallel = options.sequenceParallel;
  compile.zero = options.zero;
  compile.layoutInvariant = options.layoutInvariant;
  compile.dpSync = options.dpSync;
  compile.contextParallel = options.contextParallel;
  if (!options.schedule.empty())
    compile.schedule = options.schedule;
  compile.virtualStages = options.virtualStages;
  compile.stageLayers = options.stages;
  compile.bucketBytes = options.bucketBytes;
  compile.overlap = options.overlap;
  compile.gemmEpilogues = options.gemmEpilogues;
  compile.recompute = options.recompute;
  compile.recomputeLayers = options.recomputeLayers;
  compile.memoryLimit = options.memoryLimit;
}

static void setOptimizer(CompileOptions &compile,
                         const DriverOptions &options) {
  compile.beta1 = options.beta1;
  compile.beta2 = options.beta2;
  compile.weightDecay = options.weightDecay;
  compile.clip = options.clip;
  compile.lr = options.lr;
  compile.minLr = options.minLr;
  compile.warmupSteps = options.warmupSteps;
  compile.totalSteps = options.steps;
}

CompileOptions tessera::planOptions(const DriverOptions &options,
                                    ModuleOp module) {
  CompileOptions compile;
  compile.microBatches = microBatchesOf(module);
  compile.precision = options.precision;
  compile.cpu = options.cpu;
  compile.device = options.device;
  compile.arch = options.arch;
  compile.dumpDir = options.dumpDir;
  compile.reproducerPath = options.reproducer;
  setStrategies(compile, options);
  setOptimizer(compile, options);
  return compile;
}
