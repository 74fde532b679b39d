//===- Compile.cpp - from an nn module to an artifact ---------------------===//

#include "tessera/Pipelines/Compile.h"
#include "DumpIR.h"
#include "Reproducer.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tessera/Target/Artifact.h"
#include "tessera/Target/Metadata.h"
#include "tessera/Target/SharedObject.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tessera;

static std::string temporaryReproducer() {
  SmallString<128> path;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  llvm::sys::path::append(path,
                          llvm::formatv("tessera-crash-{0}.mlir",
                                        llvm::sys::Process::getProcessId()));
  return path.str().str();
}

/// Features that code for the target may use and that the runtime can ask the
/// processor for.
static ArrayAttr usedFeatures(Builder &builder, const CpuTarget &target,
                              EmitError emitError) {
  constexpr StringLiteral known[] = {"sse4.2",   "avx",        "avx2",
                                     "fma",      "bmi2",       "avx512f",
                                     "avx512bw", "avx512cd",   "avx512dq",
                                     "avx512vl", "avx512vnni", "avx512bf16"};
  SmallVector<StringRef> used;
  if (auto machine = target.createTargetMachine(emitError))
    for (StringRef feature : known)
      if (machine->getMCSubtargetInfo()->checkFeatures(("+" + feature).str()))
        used.push_back(feature);
  return builder.getStrArrayAttr(used);
}

/// What the user chose, as it will stand in the metadata.
static DictionaryAttr optionsAttr(Builder &builder,
                                  const CompileOptions &options,
                                  const CpuTarget &target,
                                  EmitError emitError) {
  auto real = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  auto integer = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  auto string = [&](StringRef name, StringRef value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  };
  auto optimizer = builder.getDictionaryAttr(
      {string("kind", "adamw"), real("beta1", options.beta1),
       real("beta2", options.beta2), real("eps", options.epsilon),
       real("weight_decay", options.weightDecay), real("clip", options.clip),
       real("lr", options.lr), real("min_lr", options.minLr),
       integer("warmup_steps", options.warmupSteps),
       integer("total_steps", options.totalSteps)});
  auto device = builder.getDictionaryAttr(
      {string("device", "cpu"), string("triple", target.triple),
       string("cpu", target.cpu),
       builder.getNamedAttr("features",
                            usedFeatures(builder, target, emitError))});
  return builder.getDictionaryAttr(
      {string("precision", options.precision),
       builder.getNamedAttr("optimizer", optimizer),
       builder.getNamedAttr("target", device)});
}

static PipelineOptions &setOptions(PipelineOptions &passes,
                                   const CompileOptions &options) {
  passes.mesh = options.mesh;
  passes.precision = options.precision;
  passes.microBatches = options.microBatches;
  passes.beta1 = options.beta1;
  passes.beta2 = options.beta2;
  passes.epsilon = options.epsilon;
  passes.weightDecay = options.weightDecay;
  passes.clip = options.clip;
  passes.keepValues = options.keepValues;
  return passes;
}

static LogicalResult runReproducibly(PassManager &manager, ModuleOp module,
                                     const CompileOptions &options) {
  if (options.reproducerPath.empty())
    return runWithReproducer(manager, module, temporaryReproducer(),
                             ReproducerPolicy::CrashesOnly);
  return runWithReproducer(manager, module, options.reproducerPath,
                           ReproducerPolicy::Always);
}

static LogicalResult runPasses(ModuleOp module, const CompileOptions &options,
                               const CpuTarget &target) {
  PassManager manager(module.getContext(), module.getOperationName());
  manager.enableVerifier(true);
  if (!options.dumpDir.empty()) {
    auto dump = std::make_unique<DumpIR>(options.dumpDir);
    if (failed(dump->start(module)))
      return failure();
    manager.addInstrumentation(std::move(dump));
  }
  PipelineOptions passes;
  setOptions(passes, options).vectorBits = target.vectorBits;
  buildCompilePipeline(manager, passes);
  return runReproducibly(manager, module, options);
}

LogicalResult tessera::distributeToStep(ModuleOp module,
                                        const CompileOptions &options) {
  PassManager manager(module.getContext(), module.getOperationName());
  PipelineOptions passes;
  buildDistributePipeline(manager, setOptions(passes, options));
  return runReproducibly(manager, module, options);
}

LogicalResult tessera::compileToArtifact(ModuleOp module,
                                         const CompileOptions &options,
                                         StringRef path) {
  auto emitError = [&] { return module.emitError(); };
  if (!llvm::is_contained({"f32", "bf16", "f64"}, options.precision))
    return module.emitError() << "precision '" << options.precision
                              << "' is not supported; use f32, bf16 or f64";
  FailureOr<CpuTarget> target = CpuTarget::get(options.cpu, emitError);
  if (failed(target))
    return failure();
  Builder builder(module.getContext());
  module->setAttr(kOptionsAttr,
                  optionsAttr(builder, options, *target, emitError));
  if (failed(runPasses(module, options, *target)))
    return failure();
  auto metadata = module->getAttrOfType<StringAttr>(kMetadataAttr);
  FailureOr<SmallVector<char>> code = emitSharedObject(module, *target);
  if (failed(code))
    return failure();
  return writeArtifact(path, metadata.getValue(), *code, emitError);
}
