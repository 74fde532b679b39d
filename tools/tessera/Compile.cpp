//===- Compile.cpp - tessera compile --------------------------------------===//

#include "tessera/Pipelines/Compile.h"
#include "ArtifactFile.h"
#include "Commands.h"
#include "CompilerContext.h"
#include "Report.h"
#include "tessera/Import/Import.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace tessera;

static CompileOptions compileOptions(const DriverOptions &options) {
  CompileOptions compile;
  compile.mesh = options.mesh;
  compile.precision = options.precision;
  compile.sequenceParallel = options.sequenceParallel;
  compile.zero = options.zero;
  compile.contextParallel = options.contextParallel;
  if (!options.schedule.empty())
    compile.schedule = options.schedule;
  compile.virtualStages = options.virtualStages;
  compile.stageLayers = options.stages;
  compile.cpu = options.cpu;
  compile.device = options.device;
  compile.arch = options.arch;
  compile.bucketBytes = options.bucketBytes;
  compile.overlap = options.overlap;
  compile.recompute = options.recompute;
  compile.recomputeLayers = options.recomputeLayers;
  compile.memoryLimit = options.memoryLimit;
  compile.beta1 = options.beta1;
  compile.beta2 = options.beta2;
  compile.weightDecay = options.weightDecay;
  compile.clip = options.clip;
  compile.lr = options.lr;
  compile.minLr = options.minLr;
  compile.warmupSteps = options.warmupSteps;
  compile.totalSteps = options.steps;
  compile.dumpDir = options.dumpDir;
  compile.reproducerPath = options.reproducer;
  return compile;
}

/// What `nn.model` says of the micro-batches: a .mlir file has its own number.
static int64_t microBatchesOf(ModuleOp module) {
  auto model = module->getAttrOfType<DictionaryAttr>("nn.model");
  auto count = model.getAs<IntegerAttr>("micro_batches");
  return count ? count.getInt() : 1;
}

bool tessera::compileModel(const DriverOptions &options,
                           const std::string &path) {
  if (!options.dumpDir.empty())
    if (auto error = llvm::sys::fs::create_directories(options.dumpDir))
      return !printError("cannot create '" + options.dumpDir +
                         "': " + error.message());
  DialectRegistry registry;
  registerCompilerDialects(registry);
  CompilerContext compiler(registry);
  std::string element = options.precision == "f64" ? "f64" : "f32";
  auto module = importModel(
      &compiler.context, options.model,
      {options.sequence, options.batch, options.microBatches, element});
  if (failed(module))
    return false;
  CompileOptions compile = compileOptions(options);
  compile.microBatches = microBatchesOf(**module);
  return succeeded(compileToArtifact(**module, compile, path));
}

int tessera::runCompile(const DriverOptions &options) {
  if (options.isArtifact())
    return printError("'" + options.model + "' is compiled already");
  std::string output = options.output.empty() ? "model.tsr" : options.output;
  auto start = std::chrono::steady_clock::now();
  if (!compileModel(options, output))
    return 1;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  ArtifactFile artifact;
  Report report;
  if (!artifact.load(output) || !report.read(artifact.metadata()))
    return 1;
  llvm::outs() << "wrote " << output << ": " << report.headline() << " ("
               << llvm::formatv("{0:f1}", seconds.count()) << " s)\n";
  return 0;
}
