//===- SharedObject.cpp - machine code of a program -----------------------===//

#include "tessera/Target/SharedObject.h"
#include "lib/Target/DeviceImage.h"
#include "lib/Target/Optimizer.h"
#include "lib/Target/Process.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/abi.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace tessera {

/// Names that the pass emulate-grid gives.
static bool isEmulated(StringRef name) {
  return name.ends_with("_thread") || name.ends_with("_descriptor");
}

/// Makes only what is asked for visible; the rest is hidden rather than
/// internal, since host code and kernels become two objects.
static void setLinkage(llvm::Module &module,
                       const SharedObjectOptions &options) {
  for (llvm::GlobalObject &global : module.global_objects()) {
    // "llvm." names what the code generator itself reads.
    if (global.isDeclaration() || global.getName().starts_with("llvm."))
      continue;
    bool isExported = global.getName() == TSR_PROGRAM_STEP ||
                      global.getName() == TSR_PROGRAM_EVALUATION ||
                      global.getName() == TSR_PROGRAM_DECODE ||
                      global.getName() == TSR_PROGRAM_MIXED ||
                      global.getName() == TSR_PROGRAM_SCORE ||
                      global.getName() == TSR_PROGRAM_ENCODE ||
                      global.getName() == TSR_PROGRAM_IMAGE ||
                      options.exportKernels ||
                      (options.exportEmulated && isEmulated(global.getName()));
    global.setLinkage(llvm::GlobalValue::ExternalLinkage);
    global.setVisibility(isExported ? llvm::GlobalValue::DefaultVisibility
                                    : llvm::GlobalValue::HiddenVisibility);
    global.setDSOLocal(true);
  }
}

static void setAttributes(llvm::Module &module, const CpuTarget &target) {
  std::string bits = std::to_string(target.vectorBits);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
}

/// Moves the host program into a module of its own; null if there is none.
static std::unique_ptr<llvm::Module> splitHost(llvm::Module &module) {
  llvm::Function *host = module.getFunction(TSR_PROGRAM_STEP);
  if (!host || host->isDeclaration())
    return nullptr;
  llvm::ValueToValueMapTy values;
  auto split =
      llvm::CloneModule(module, values, [&](const llvm::GlobalValue *global) {
        return global == host;
      });
  // Constructors stay with the kernels.
  if (auto *constructors = split->getNamedGlobal("llvm.global_ctors"))
    constructors->eraseFromParent();
  host->deleteBody();
  host->setVisibility(llvm::GlobalValue::DefaultVisibility);
  return split;
}

static LogicalResult writeIr(ModuleOp module, const llvm::Module &llvmModule,
                             StringRef path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvmModule.print(stream, nullptr);
  return writeFile(path, text, [&] { return module.emitError(); });
}

static FailureOr<ObjectCode> emitObject(ModuleOp module,
                                        llvm::Module &llvmModule,
                                        llvm::TargetMachine &machine) {
  ObjectCode object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return module.emitError("this target cannot emit object files");
  passes.run(llvmModule);
  return object;
}

static std::unique_ptr<llvm::Module> translate(ModuleOp module,
                                               llvm::LLVMContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  auto llvmModule = translateModuleToLLVMIR(module, context, "tessera");
  if (!llvmModule)
    module.emitError("cannot translate the program to LLVM IR");
  return llvmModule;
}

/// Replaces CUDA kernels by the image that holds them.
static LogicalResult replaceKernels(ModuleOp program, llvm::Module &module,
                                    const SharedObjectOptions &options) {
  auto emitError = [&] { return program.emitError(); };
  FailureOr<DeviceImage> image =
      compileDevice(module, *options.cuda, emitError);
  if (failed(image))
    return failure();
  if (auto bytes = program->getAttrOfType<IntegerAttr>(rt::kWorkspaceAttr))
    image->workspaceBytes = bytes.getInt();
  embedImage(module, *image);
  return options.ptxPath.empty()
             ? success()
             : writeFile(options.ptxPath, image->ptx, emitError);
}

FailureOr<SmallVector<ObjectCode, 2>>
emitObjects(ModuleOp module, const CpuTarget &target,
            const SharedObjectOptions &options) {
  auto emitError = [&] { return module.emitError(); };
  std::unique_ptr<llvm::TargetMachine> machine =
      target.createTargetMachine(emitError);
  if (!machine)
    return failure();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> kernels = translate(module, context);
  if (!kernels)
    return failure();
  if (options.cuda && failed(replaceKernels(module, *kernels, options)))
    return failure();
  kernels->setTargetTriple(llvm::Triple(target.triple));
  kernels->setDataLayout(machine->createDataLayout());
  setLinkage(*kernels, options);
  setAttributes(*kernels, target);
  std::unique_ptr<llvm::Module> host = splitHost(*kernels);
  if (options.optimize)
    optimize(*kernels, *machine);
  else
    machine->setOptLevel(llvm::CodeGenOptLevel::None);
  if (!options.llvmIrPath.empty() &&
      failed(writeIr(module, *kernels, options.llvmIrPath)))
    return failure();

  SmallVector<ObjectCode, 2> objects;
  FailureOr<ObjectCode> object = emitObject(module, *kernels, *machine);
  if (failed(object))
    return failure();
  objects.push_back(std::move(*object));
  if (host) {
    // A list of calls, thousands of them: compiled fast rather than well.
    machine->setOptLevel(llvm::CodeGenOptLevel::None);
    object = emitObject(module, *host, *machine);
    if (failed(object))
      return failure();
    objects.push_back(std::move(*object));
  }
  return objects;
}

FailureOr<ObjectCode> emitSharedObject(ModuleOp module, const CpuTarget &target,
                                       const SharedObjectOptions &options) {
  auto objects = emitObjects(module, target, options);
  if (failed(objects))
    return failure();
  return linkSharedObject(*objects, options.linker,
                          [&] { return module.emitError(); });
}

} // namespace tessera
