//===- Compile.cpp - from an nn module to an artifact ---------------------===//

#include "tessera/Pipelines/Compile.h"
#include "lib/Pipelines/DumpIR.h"
#include "lib/Pipelines/Reproducer.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Pipelines/FitMemory.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tessera/Target/ArtifactLimits.h"
#include "tessera/Target/MetadataJson.h"
#include "tessera/Target/SharedObject.h"
#include "tessera/Target/WriteArtifact.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tessera;

/// Features that code for the target may use and that the runtime can ask the
/// processor for.
static ArrayAttr usedFeatures(Builder &builder, const CpuTarget &target,
                              EmitError emitError) {
  constexpr StringLiteral known[] = {
      "sse4.2",     "avx",        "avx2",       "fma",         "bmi2",
      "avx512f",    "avx512bw",   "avx512cd",   "avx512dq",    "avx512vl",
      "avx512vnni", "avx512bf16", "avx512vbmi", "avx512vbmi2", "avx512ifma"};
  SmallVector<StringRef> used;
  if (auto machine = target.createTargetMachine(emitError))
    for (StringRef feature : known)
      if (machine->getMCSubtargetInfo()->checkFeatures(("+" + feature).str()))
        used.push_back(feature);
  return builder.getStrArrayAttr(used);
}

/// Returns what is recomputed. `names` are the model's layers as parts of the
/// program name them, in the order in which the options number them.
static NamedAttribute recomputeAttr(Builder &builder, const PlanOptions &plan,
                                    ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> again = {
      builder.getNamedAttr(
          "mode", builder.getStringAttr(nameOf(plan.memory.recompute))),
      builder.getNamedAttr(
          "layers", builder.getI64IntegerAttr(plan.memory.recomputeLayers)),
      builder.getNamedAttr("names", builder.getStrArrayAttr(names))};
  if (std::string ranges = plan.memory.layerRecompute.str(); !ranges.empty())
    again.push_back(
        builder.getNamedAttr("ranges", builder.getStringAttr(ranges)));
  return builder.getNamedAttr("recompute", builder.getDictionaryAttr(again));
}

/// Returns the user's choices, as they will stand in the metadata.
static DictionaryAttr optionsAttr(Builder &builder, const PlanOptions &plan,
                                  ArrayRef<StringRef> layers,
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
  const OptimizerOptions chosen = completed(plan.optimizer);
  auto optimizer = builder.getDictionaryAttr(
      {string("kind", nameOf(chosen.kind)), real("beta1", chosen.beta1),
       real("beta2", chosen.beta2), real("momentum", chosen.momentum),
       real("eps", chosen.epsilon), real("weight_decay", chosen.weightDecay),
       real("clip", chosen.clip), real("lr", plan.learningRate.largest),
       real("min_lr", plan.learningRate.smallest),
       integer("warmup_steps", plan.learningRate.warmupSteps),
       integer("total_steps", plan.learningRate.totalSteps),
       string("schedule", nameOf(plan.learningRate.schedule)),
       integer("decay_steps", plan.learningRate.decaySteps)});
  SmallVector<NamedAttribute> device = {
      string("device", nameOf(plan.device.target.kind)),
      string("triple", target.triple), string("cpu", target.cpu),
      builder.getNamedAttr("features",
                           usedFeatures(builder, target, emitError))};
  if (plan.device.target.isCuda())
    device.push_back(string("arch", plan.device.target.arch));
  return builder.getDictionaryAttr(
      {string("precision", nameOf(plan.precision)),
       string("weights", nameOf(plan.weights)),
       recomputeAttr(builder, plan, layers),
       builder.getNamedAttr("optimizer", optimizer),
       builder.getNamedAttr("target", builder.getDictionaryAttr(device))});
}

static LogicalResult runReproducibly(PassManager &manager, ModuleOp module,
                                     const PlanOptions &plan) {
  if (plan.debugging.reproducer.empty())
    return runWithReproducer(manager, module);
  // Only a crash of the thread that runs the passes is caught.
  module.getContext()->disableMultithreading();
  return runWithReproducer(manager, module, plan.debugging.reproducer);
}

using BuildPipeline = LogicalResult (*)(OpPassManager &, const PlanOptions &,
                                        RefusePlan);

namespace {
struct ObservePasses : PassInstrumentation {
  explicit ObservePasses(const PassObserver &observer) : observer(observer) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (module && !pass->getArgument().empty())
      observer(pass->getArgument(), pass->getDescription(), module);
  }

  const PassObserver &observer;
};
} // namespace

static LogicalResult runPasses(ModuleOp module, const PlanOptions &plan,
                               BuildPipeline build, const PassWatch &watch) {
  PassManager manager(module.getContext(), module.getOperationName());
  manager.enableVerifier(watch.verifies);
  if (!plan.debugging.dumpDirectory.empty()) {
    auto dump = std::make_unique<DumpIR>(plan.debugging.dumpDirectory);
    if (failed(dump->start(module)))
      return failure();
    manager.addInstrumentation(std::move(dump));
  }
  if (watch.observer) {
    watch.observer("input", "The model, serial", module);
    manager.addInstrumentation(std::make_unique<ObservePasses>(watch.observer));
  }
  auto refuse = [&](const Twine &why) { return module.emitError(why); };
  if (failed(build(manager, plan, refuse)))
    return failure();
  return runReproducibly(manager, module, plan);
}

/// Refuses a plan whose options do not go together.
static LogicalResult checkOptions(ModuleOp module, const PlanOptions &plan) {
  std::string why = checkPlan(plan);
  return why.empty() ? success() : module.emitError() << why;
}

LogicalResult tessera::distributeToStep(ModuleOp module,
                                        const PlanOptions &plan) {
  PassManager manager(module.getContext(), module.getOperationName());
  auto refuse = [&](const Twine &why) { return module.emitError(why); };
  if (failed(buildDistributePipeline(manager, plan, refuse)))
    return failure();
  return runReproducibly(manager, module, plan);
}

/// A program for a GPU is a list of calls: it is compiled here and run
/// elsewhere, so it asks for no more than what every such machine has.
static std::string hostCpu(const DeviceOptions &device) {
  bool isChosen = device.cpu != DeviceOptions().cpu;
  bool isElsewhere = device.target.isCuda() && !device.emulateGrid;
  return isElsewhere && !isChosen ? "x86-64-v2" : device.cpu;
}

/// Returns how machine code is made, if the target exists.
static FailureOr<SharedObjectOptions> codeOptions(const PlanOptions &plan,
                                                  EmitError emitError) {
  const DeviceOptions &device = plan.device;
  SharedObjectOptions code;
  code.exportEmulated = device.emulateGrid;
  code.optimize = plan.debugging.optimizeCode;
  if (!device.target.isCuda() || device.emulateGrid)
    return code;
  FailureOr<CudaTarget> cuda = CudaTarget::get(device.target.arch, emitError);
  if (failed(cuda))
    return failure();
  code.cuda = *cuda;
  if (!plan.debugging.dumpDirectory.empty())
    code.ptxPath = plan.debugging.dumpDirectory + "/kernels.ptx";
  return code;
}

namespace {
/// The processor that code is made for, and the way it is made.
struct CodeTarget {
  CpuTarget cpu;
  SharedObjectOptions code;
};
} // namespace

/// Returns the layers of a module that is not distributed yet; none if it does
/// not train.
static SmallVector<StringRef> layersOf(ModuleOp module) {
  func::FuncOp loss = module.lookupSymbol<func::FuncOp>("loss");
  return loss && !loss.isDeclaration() ? layersOf(loss)
                                       : SmallVector<StringRef>();
}

/// Runs the passes of `build` after all checks of `given`.
static FailureOr<CodeTarget> lower(ModuleOp module, const PlanOptions &given,
                                   BuildPipeline build,
                                   const PassWatch &watch = {}) {
  PlanOptions plan = given;
  auto emitError = [&] { return module.emitError(); };
  if (failed(checkOptions(module, plan)) || failed(checkSizes(module)))
    return failure();
  FailureOr<SharedObjectOptions> code = codeOptions(plan, emitError);
  if (failed(code))
    return failure();
  FailureOr<CpuTarget> target = CpuTarget::get(hostCpu(plan.device), emitError);
  if (failed(target))
    return failure();
  plan.device.vectorBits = target->vectorBits;
  if (failed(fitMemory(module, plan)))
    return failure();
  Builder builder(module.getContext());
  module->setAttr(rt::kOptionsAttr, optionsAttr(builder, plan, layersOf(module),
                                                *target, emitError));
  if (failed(runPasses(module, plan, build, watch)))
    return failure();
  return CodeTarget{*target, *code};
}

static StringRef metadataOf(ModuleOp module) {
  return module->getAttrOfType<StringAttr>(rt::kMetadataAttr).getValue();
}

FailureOr<std::string> tessera::compileToMetadata(ModuleOp module,
                                                  const PlanOptions &plan,
                                                  const PassWatch &watch) {
  if (failed(lower(module, plan, buildMetadataPipeline, watch)))
    return failure();
  return metadataOf(module).str();
}

LogicalResult tessera::compileToArtifact(ModuleOp module,
                                         const PlanOptions &plan,
                                         StringRef path) {
  FailureOr<CodeTarget> target = lower(module, plan, buildCompilePipeline);
  if (failed(target))
    return failure();
  FailureOr<SmallVector<char>> object =
      emitSharedObject(module, target->cpu, target->code);
  if (failed(object))
    return failure();
  return writeArtifact(path, metadataOf(module), *object,
                       [&] { return module.emitError(); });
}
