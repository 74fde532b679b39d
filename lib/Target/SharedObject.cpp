//===- SharedObject.cpp - machine code of a program -----------------------===//

#include "tessera/Target/SharedObject.h"
#include "Linker.h"
#include "Optimizer.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tessera/abi.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace tessera {

static void setAttributes(llvm::Module &module, const CpuTarget &target,
                          const SharedObjectOptions &options) {
  std::string bits = std::to_string(target.vectorBits);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    bool isExported =
        options.exportKernels || function.getName() == TSR_PROGRAM_STEP;
    function.setLinkage(isExported ? llvm::GlobalValue::ExternalLinkage
                                   : llvm::GlobalValue::InternalLinkage);
    function.setDSOLocal(true);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
}

static LogicalResult writeIr(ModuleOp module, const llvm::Module &llvmModule,
                             StringRef path) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return module.emitError()
           << "cannot write '" << path << "': " << error.message();
  llvmModule.print(stream, nullptr);
  return success();
}

static FailureOr<SmallVector<char>> emitObject(ModuleOp module,
                                               llvm::Module &llvmModule,
                                               llvm::TargetMachine &machine) {
  SmallVector<char> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return module.emitError("this target cannot emit object files");
  passes.run(llvmModule);
  return object;
}

FailureOr<SmallVector<char>>
emitSharedObject(ModuleOp module, const CpuTarget &target,
                 const SharedObjectOptions &options) {
  auto emitError = [&] { return module.emitError(); };
  std::unique_ptr<llvm::TargetMachine> machine =
      target.createTargetMachine(emitError);
  if (!machine)
    return failure();

  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "tessera");
  if (!llvmModule)
    return module.emitError("cannot translate the program to LLVM IR");
  llvmModule->setTargetTriple(llvm::Triple(target.triple));
  llvmModule->setDataLayout(machine->createDataLayout());
  setAttributes(*llvmModule, target, options);
  optimize(*llvmModule, *machine);
  if (!options.llvmIrPath.empty() &&
      failed(writeIr(module, *llvmModule, options.llvmIrPath)))
    return failure();

  FailureOr<SmallVector<char>> object =
      emitObject(module, *llvmModule, *machine);
  if (failed(object))
    return failure();
  return linkSharedObject(*object, options.linker, emitError);
}

} // namespace tessera
