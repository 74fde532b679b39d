//===- VerifyPrograms.cpp - the serial and the parallel program -----------===//

#include "tools/tessera/verify/VerifyPrograms.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Distribute/Erasure.h"
#include "tessera/Import/Import.h"
#include "tessera/Options/MeshAxis.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/options/Mesh.h"
#include "tools/tessera/options/PlanOptions.h"
#include <numeric>

using namespace mlir;
using namespace tessera;

/// One rank, every value made once.
static void makeSerial(CompileOptions &compile) {
  compile.mesh.clear();
  compile.dumpDir.clear();
  compile.recompute = "none";
  compile.dpSync = "all-reduce";
}

static OwningOpRef<ModuleOp> importWhole(MLIRContext &context,
                                         const DriverOptions &options) {
  auto module = importModel(
      &context, options.model,
      {options.sequence, options.batch, options.microBatches,
       options.precision == "f64" ? "f64" : "f32", options.targetSequence});
  return succeeded(module) ? std::move(*module) : nullptr;
}

bool tessera::chooseRecompute(DriverOptions &options) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  CompilerContext compiler(registry);
  OwningOpRef<ModuleOp> module = importWhole(compiler.context, options);
  if (!module)
    return false;
  CompileOptions compile = planOptions(options, *module);
  if (failed(fitMemory(*module, compile)))
    return false;
  options.recompute = compile.recompute;
  options.recomputeLayers = compile.recomputeLayers;
  return true;
}

bool tessera::checkTypes(const DriverOptions &options, TypeCheck &check) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  CompilerContext compiler(registry);
  OwningOpRef<ModuleOp> programs[2];
  for (bool isParallel : {false, true}) {
    OwningOpRef<ModuleOp> module = importWhole(compiler.context, options);
    if (!module)
      return false;
    CompileOptions compile = planOptions(options, *module);
    if (!isParallel)
      makeSerial(compile);
    if (failed(distributeToStep(*module, compile)))
      return false;
    programs[isParallel] = std::move(module);
  }
  programs[1]->walk([&](Operation *op) {
    check.ops += isa<dist::DistributableOpInterface>(op);
    check.conversions += isa<dist::ConvertOp>(op);
  });
  check.difference = compareErased(*programs[1], *programs[0]);
  return true;
}

/// Two sequences per rank of `dp` and `ep` and micro-batch.
static int64_t smallBatch(const DriverOptions &options) {
  Mesh mesh;
  mesh.parse(options.mesh);
  int64_t batch = 2 * std::max<int64_t>(1, options.microBatches);
  for (const auto &[axis, size] : mesh.axes)
    if (axis == kDataAxis || axis == kExpertAxis)
      batch *= size;
  return batch;
}

/// Layers enough for every chunk of the pipeline: a layer is two segments, and
/// what is before and behind the layers is one each.
static int64_t smallLayers(const DriverOptions &options) {
  constexpr int64_t least = 2;
  if (!options.stages.empty())
    return std::accumulate(options.stages.begin(), options.stages.end(),
                           int64_t(0));
  Mesh mesh;
  mesh.parse(options.mesh);
  int64_t chunks = options.virtualStages;
  for (const auto &[axis, size] : mesh.axes)
    if (axis == kPipelineAxis)
      chunks *= size;
  return std::max(least, (chunks - 1) / 2);
}

/// Short sequences that a ring can cut into chunks of its ranks; whether it can
/// cut the whole ones is checked with the types.
static void shrinkSequence(ImportOptions &import,
                           const DriverOptions &options) {
  if (options.contextParallel != "ring")
    return;
  Mesh mesh;
  mesh.parse(options.mesh);
  int64_t chunks = 2 * mesh.sizeOf(kContextAxis);
  import.shrunkPositions =
      std::max(chunks, import.shrunkPositions / chunks * chunks);
  if (options.sequence)
    import.sequence = std::min(options.sequence, import.shrunkPositions);
}

/// Above every element of a clipped gradient, and of a shrunk model's.
static constexpr double kGradientScale = 1.0;

bool tessera::compileShrunk(const DriverOptions &options,
                            const std::string &precision,
                            const std::string &path, Side side) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  CompilerContext compiler(registry);
  ImportOptions import;
  import.elementType = precision == "f64" ? "f64" : "f32";
  if (!options.isProgram()) {
    import.shrink = true;
    import.shrunkLayers = smallLayers(options);
    import.batch = smallBatch(options);
    import.microBatches = options.microBatches;
    shrinkSequence(import, options);
  }
  auto module = importModel(&compiler.context, options.model, import);
  if (failed(module))
    return false;
  CompileOptions compile = planOptions(options, **module);
  if (side == Side::Serial)
    makeSerial(compile);
  if (side == Side::Serial || precision == "f64")
    compile.device = "cpu";
  compile.precision = precision;
  compile.memoryLimit = 0; // Of the whole model.
  compile.keepValues = true;
  // A small epsilon makes AdamW's first steps signs of gradients: of those that
  // bf16, or f32 in a program of full size, barely resolves, either sign. A
  // large one keeps what is compared proportional to the gradients.
  if (precision == "bf16" || (precision == "f32" && options.isProgram()))
    compile.epsilon = kGradientScale;
  return succeeded(compileToArtifact(**module, compile, path));
}
