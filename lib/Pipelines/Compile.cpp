//===- Compile.cpp - from an nn module to an artifact ---------------------===//

#include "tessera/Pipelines/Compile.h"
#include "lib/Pipelines/DumpIR.h"
#include "lib/Pipelines/FitMemory.h"
#include "lib/Pipelines/Reproducer.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Target/MetadataJson.h"
#include "tessera/Target/SharedObject.h"
#include "tessera/Target/WriteArtifact.h"
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
  SmallVector<NamedAttribute> device = {
      string("device", options.device), string("triple", target.triple),
      string("cpu", target.cpu),
      builder.getNamedAttr("features",
                           usedFeatures(builder, target, emitError))};
  if (options.device == "cuda")
    device.push_back(string("arch", options.arch));
  auto recompute =
      builder.getDictionaryAttr({string("mode", options.recompute),
                                 integer("layers", options.recomputeLayers)});
  return builder.getDictionaryAttr(
      {string("precision", options.precision),
       builder.getNamedAttr("recompute", recompute),
       builder.getNamedAttr("optimizer", optimizer),
       builder.getNamedAttr("target", builder.getDictionaryAttr(device))});
}

void tessera::setOptions(PipelineOptions &passes,
                         const CompileOptions &options) {
  passes.mesh = options.mesh;
  passes.precision = options.precision;
  passes.device = options.emulateGrid ? "cuda" : options.device;
  passes.emulate = options.emulateGrid;
  passes.emulateLaunches = options.emulateGrid && options.device == "cuda";
  passes.microBatches = options.microBatches;
  passes.sequenceParallel = options.sequenceParallel;
  passes.zero = options.zero;
  passes.layoutInvariant = options.layoutInvariant;
  passes.parameterServer = options.dpSync == "parameter-server";
  passes.contextParallel = options.contextParallel;
  passes.schedule = options.schedule;
  passes.virtualStages = options.virtualStages;
  passes.stageLayers = options.stageLayers;
  passes.beta1 = options.beta1;
  passes.beta2 = options.beta2;
  passes.epsilon = options.epsilon;
  passes.weightDecay = options.weightDecay;
  passes.clip = options.clip;
  passes.keepValues = options.keepValues;
  passes.bucketBytes = options.bucketBytes;
  passes.overlap = options.overlap;
  passes.gemmEpilogues = options.gemmEpilogues;
  passes.recompute = options.recompute;
  passes.recomputeLayers = options.recomputeLayers;
}

static LogicalResult runReproducibly(PassManager &manager, ModuleOp module,
                                     const CompileOptions &options) {
  if (options.reproducerPath.empty())
    return runWithReproducer(manager, module, temporaryReproducer(),
                             ReproducerPolicy::CrashesOnly);
  // Only a crash of the thread that runs the passes is caught.
  module.getContext()->disableMultithreading();
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
  setOptions(passes, options);
  passes.vectorBits = target.vectorBits;
  buildCompilePipeline(manager, passes);
  return runReproducibly(manager, module, options);
}

/// What sums of a fixed order do not reach yet, with the nearest that they do.
static LogicalResult checkInvariance(const CompileOptions &options,
                                     EmitError emitError) {
  auto refuse = [&](const Twine &what, StringRef instead) {
    return emitError() << "--layout-invariant does not support " << what << "; "
                       << instead;
  };
  if (options.layoutInvariant == 0)
    return success();
  if (options.precision == "bf16")
    return refuse("precision 'bf16'", "use f32");
  if (options.device == "cuda")
    return refuse("device 'cuda'", "use --device cpu");
  if (options.sequenceParallel)
    return refuse("--sequence-parallel, which adds over sequences on 'tp' and "
                  "over the batch on 'dp'",
                  "leave it out");
  if (options.zero)
    return refuse("--zero, which adds squares over 'dp'", "use --zero 0");
  if (options.dpSync != "all-reduce")
    return refuse("--dp-sync " + options.dpSync, "use --dp-sync all-reduce");
  return success();
}

LogicalResult tessera::distributeToStep(ModuleOp module,
                                        const CompileOptions &options) {
  if (failed(checkInvariance(options, [&] { return module.emitError(); })))
    return failure();
  PassManager manager(module.getContext(), module.getOperationName());
  PipelineOptions passes;
  setOptions(passes, options);
  buildDistributePipeline(manager, passes);
  return runReproducibly(manager, module, options);
}

static LogicalResult checkDevice(ModuleOp module, const CompileOptions &options,
                                 EmitError emitError) {
  if (options.device != "cpu" && options.device != "cuda")
    return emitError() << "device '" << options.device
                       << "' is not supported; use cpu or cuda";
  if (options.device == "cuda" && options.precision == "f64" &&
      !options.emulateGrid)
    return emitError() << "precision 'f64' is not supported on device 'cuda'; "
                          "use f32 or bf16, or --device cpu";
  return success();
}

/// A program for a GPU is a list of calls: it is compiled here and run
/// elsewhere, so it asks for no more than what every such machine has.
static std::string hostCpu(const CompileOptions &options) {
  bool isChosen = options.cpu != "native";
  bool isElsewhere = options.device == "cuda" && !options.emulateGrid;
  return isElsewhere && !isChosen ? "x86-64-v2" : options.cpu;
}

LogicalResult tessera::compileToArtifact(ModuleOp module,
                                         const CompileOptions &given,
                                         StringRef path) {
  CompileOptions options = given;
  auto emitError = [&] { return module.emitError(); };
  if (!llvm::is_contained({"f32", "bf16", "f64"}, options.precision))
    return module.emitError() << "precision '" << options.precision
                              << "' is not supported; use f32, bf16 or f64";
  if (failed(checkDevice(module, options, emitError)) ||
      failed(checkInvariance(options, emitError)))
    return failure();
  SharedObjectOptions code;
  code.exportEmulated = options.emulateGrid;
  if (options.device == "cuda" && !options.emulateGrid) {
    FailureOr<CudaTarget> cuda = CudaTarget::get(options.arch, emitError);
    if (failed(cuda))
      return failure();
    code.cuda = *cuda;
    if (!options.dumpDir.empty())
      code.ptxPath = options.dumpDir + "/kernels.ptx";
  }
  FailureOr<CpuTarget> target = CpuTarget::get(hostCpu(options), emitError);
  if (failed(target))
    return failure();
  if (failed(fitMemory(module, options)))
    return failure();
  Builder builder(module.getContext());
  module->setAttr(kOptionsAttr,
                  optionsAttr(builder, options, *target, emitError));
  if (failed(runPasses(module, options, *target)))
    return failure();
  auto metadata = module->getAttrOfType<StringAttr>(kMetadataAttr);
  FailureOr<SmallVector<char>> object = emitSharedObject(module, *target, code);
  if (failed(object))
    return failure();
  return writeArtifact(path, metadata.getValue(), *object, emitError);
}
