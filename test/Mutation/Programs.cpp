//===- Programs.cpp - the program at every stage, and mutants of it -------===//

#include "test/Mutation/Programs.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Import/Import.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Memory/Passes.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Target/MetadataJson.h"
#include "tessera/Target/Passes.h"
#include "tessera/Target/WriteArtifact.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

// Two sequences or more per rank and micro-batch.
static constexpr int64_t kBatch = 8;
// Sequences of programs for generation, to compare with.
static constexpr int64_t kSequences = 2;

std::shared_ptr<const ObjectCode>
KernelObjects::get(const std::string &text,
                   llvm::function_ref<FailureOr<ObjectCode>()> compile) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = objects.find(text); known != objects.end())
      return known->second;
  }
  FailureOr<ObjectCode> code = compile();
  if (failed(code))
    return nullptr;
  auto shared = std::make_shared<const ObjectCode>(std::move(*code));
  std::lock_guard<std::mutex> lock(mutex);
  return objects[text] = shared;
}

static DialectRegistry compilerDialects() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

Programs::Programs(const Strategy &strategy)
    : strategy(strategy),
      context(compilerDialects(), MLIRContext::Threading::DISABLED) {
  // Refusals of mutants are results, not news.
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (firstError.empty() &&
        diagnostic.getSeverity() == DiagnosticSeverity::Error)
      firstError = diagnostic.str();
    return success();
  });
}

OwningOpRef<ModuleOp> Programs::importModel() {
  ImportOptions options;
  options.sizes.batch = strategy.generates() ? kSequences : kBatch;
  options.sizes.microBatches = plan.sizes.microBatches;
  options.sizes.documentMask =
      StringRef(strategy.model).ends_with("-documents");
  options.precision = Precision::F64;
  options.forGeneration = strategy.generates();
  auto module = tessera::importModel(&context, strategy.configPath(), options);
  return succeeded(module) ? std::move(*module) : nullptr;
}

bool Programs::isPipeline() const {
  return plan.mesh.sizeOf(MeshAxis::Pipeline) > 1;
}

bool Programs::hasOwners() const {
  return plan.strategies.dpSync == DpSync::ParameterServer;
}

bool Programs::run(ModuleOp module,
                   llvm::function_ref<LogicalResult(OpPassManager &)> add) {
  firstError.clear();
  PassManager manager(&context);
  return succeeded(add(manager)) && succeeded(manager.run(module));
}

LogicalResult Programs::refuse(const Twine &why) {
  firstError = why.str();
  return failure();
}

bool Programs::compileSerial(const std::string &path) {
  OwningOpRef<ModuleOp> module = importModel();
  if (strategy.generates()) {
    if (!module)
      return false;
    FailureOr<ForwardProgram> compiled =
        compileForward(*module, Precision::F64, path);
    if (failed(compiled))
      return false;
    whole = std::move(*compiled);
    metadataOptions = (*module)->getAttr(rt::kOptionsAttr);
    return true;
  }
  PlanOptions compile;
  compile.precision = Precision::F64;
  compile.sizes.microBatches = plan.sizes.microBatches;
  compile.optimizer = plan.optimizer;
  if (!module || failed(compileToArtifact(*module, compile, path)))
    return false;
  metadataOptions = (*module)->getAttr(rt::kOptionsAttr);
  return true;
}

LogicalResult Programs::buildSerialPipeline(OpPassManager &manager) {
  if (strategy.generates()) {
    buildSerialGenerationPipeline(manager, plan);
    return success();
  }
  PlanOptions none;
  none.sizes.microBatches = plan.sizes.microBatches;
  none.optimizer = plan.optimizer;
  return buildDistributePipeline(
      manager, none, [this](const Twine &why) { return refuse(why); });
}

bool Programs::buildTyped() {
  firstError = strategy.apply(plan);
  if (!firstError.empty())
    return false;
  OwningOpRef<ModuleOp> &module = parallel[int(Stage::Typed)];
  module = importModel();
  serial = importModel();
  if (!module || !serial)
    return false;
  target = CpuTarget::get("native", [&] { return module->emitError(); });
  if (failed(target))
    return false;
  plan.device.vectorBits = target->vectorBits;
  auto distribute = [&](OpPassManager &manager) {
    return buildDistributePipeline(
        manager, plan, [this](const Twine &why) { return refuse(why); });
  };
  return run(*serial,
             [&](OpPassManager &manager) {
               return buildSerialPipeline(manager);
             }) &&
         run(*module, distribute);
}

bool Programs::build(KernelObjects &objects, const std::string &serialPath) {
  kernels = &objects;
  if (!compileSerial(serialPath))
    return false;
  at(Stage::Typed)->setAttr(rt::kOptionsAttr, metadataOptions);
  for (int stage = 1; stage < kStages; ++stage) {
    parallel[stage] = parallel[stage - 1]->clone();
    if (!advance(*parallel[stage], Stage(stage - 1), Stage(stage)))
      return false;
  }
  return true;
}

bool Programs::advance(ModuleOp module, Stage from, Stage to) {
  auto refused = [this](const Twine &why) { return refuse(why); };
  auto passesBetween = [&](OpPassManager &manager) -> LogicalResult {
    auto isAhead = [&](Stage stage) { return from < stage && stage <= to; };
    if (isAhead(Stage::Localized)) {
      if (isPipeline())
        manager.addPass(createSplitStagesPass({nameOf(plan.stages.schedule)}));
      if (hasOwners())
        manager.addPass(createSplitOwnersPass());
      manager.addPass(createLocalizePass());
    }
    if (isAhead(Stage::Lowered))
      buildLowerLocalPipeline(manager, plan);
    if (!isAhead(Stage::Planned))
      return success();
    if (failed(buildCommunicatePipeline(manager, plan, refused)))
      return failure();
    return buildMemoryPipeline(manager, plan, refused);
  };
  return run(module, passesBetween);
}

bool Programs::check(ModuleOp module) {
  return run(module, [&](OpPassManager &manager) {
    manager.addPass(createCheckMemoryPass());
    if (isPipeline() || hasOwners())
      manager.addPass(createCheckMessagesPass());
    return success();
  });
}

std::string Programs::text(ModuleOp lowered) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  lowered->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return text;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static SmallVector<func::FuncOp> kernelsIn(ModuleOp module) {
  SmallVector<func::FuncOp> kernels;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->hasAttr(rt::RTDialect::kScheduleAttr))
      kernels.push_back(func);
  return kernels;
}

std::shared_ptr<const ObjectCode> Programs::kernelsOf(ModuleOp module) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  for (func::FuncOp kernel : kernelsIn(module))
    kernel.print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return kernels->get(key, [&]() -> FailureOr<ObjectCode> {
    OwningOpRef<ModuleOp> copy = module.clone();
    for (func::FuncOp program : programsOf(*copy))
      program.erase();
    KernelToLLVMPipelineOptions options;
    options.vectorBits = plan.device.vectorBits;
    if (!run(*copy, [&](OpPassManager &manager) {
          buildKernelToLLVMPipeline(manager, options);
          return success();
        }))
      return failure();
    auto objects = emitObjects(*copy, *target);
    if (failed(objects))
      return failure();
    return std::move(objects->front());
  });
}

/// Links host code, which is compiled against declarations of the kernels.
FailureOr<ObjectCode> Programs::link(ModuleOp module) {
  std::shared_ptr<const ObjectCode> kernelCode = kernelsOf(module);
  if (!kernelCode)
    return failure();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                          ArrayRef<Type>());
  for (func::FuncOp kernel : kernelsIn(module)) {
    std::string name = kernel.getName().str();
    Location loc = kernel.getLoc();
    kernel.erase();
    LLVM::LLVMFuncOp::create(builder, loc, name, type);
  }
  // Scalars are all that is left to convert.
  if (!run(module, [&](OpPassManager &manager) {
        manager.addPass(createConvertRTToLLVMPass());
        manager.addPass(createArithToLLVMConversionPass());
        return success();
      }))
    return failure();
  auto objects = emitObjects(module, *target);
  if (failed(objects))
    return failure();
  SmallVector<ObjectCode, 3> all = {*kernelCode};
  llvm::append_range(all, *objects);
  return linkSharedObject(all, TEST_LINKER, [&] { return module.emitError(); });
}

bool Programs::compile(ModuleOp module, const std::string &path) {
  if (!run(module, [](OpPassManager &manager) {
        manager.addPass(createAttachMetadataPass());
        return success();
      }))
    return false;
  auto metadata = module->getAttrOfType<StringAttr>(rt::kMetadataAttr);
  FailureOr<ObjectCode> code = link(module);
  return succeeded(code) &&
         succeeded(writeArtifact(path, metadata.getValue(), *code,
                                 [&] { return module.emitError(); }));
}
