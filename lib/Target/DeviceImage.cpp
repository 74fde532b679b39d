//===- DeviceImage.cpp - CUDA kernels as data of the host program ---------===//

#include "lib/Target/DeviceImage.h"
#include "lib/Target/Optimizer.h"
#include "lib/Target/Process.h"
#include "tessera/abi.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace tessera {

static bool isKernel(const llvm::GlobalValue &global) {
  auto *function = dyn_cast<llvm::Function>(&global);
  return function &&
         function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// Kernels, and the shared memory that they name, in a module of their own.
static std::unique_ptr<llvm::Module> splitKernels(llvm::Module &module) {
  llvm::ValueToValueMapTy values;
  auto kernels =
      llvm::CloneModule(module, values, [](const llvm::GlobalValue *global) {
        return isKernel(*global);
      });
  for (llvm::Function &function : llvm::make_early_inc_range(*kernels)) {
    if (isKernel(function))
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    else if (function.use_empty())
      function.eraseFromParent();
  }
  for (llvm::GlobalVariable &global :
       llvm::make_early_inc_range(kernels->globals()))
    if (global.use_empty())
      global.eraseFromParent();

  for (llvm::Function &function : llvm::make_early_inc_range(module))
    if (isKernel(function))
      function.eraseFromParent();
  constexpr unsigned hostSpace = 0;
  for (llvm::GlobalVariable &global :
       llvm::make_early_inc_range(module.globals()))
    if (global.getAddressSpace() != hostSpace)
      global.eraseFromParent();
  return kernels;
}

static FailureOr<std::string> emitPtx(llvm::Module &kernels,
                                      llvm::TargetMachine &machine,
                                      EmitError emitError) {
  SmallVector<char> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile))
    return emitError() << "this target cannot emit PTX";
  passes.run(kernels);
  return std::string(text.begin(), text.end());
}

/// Returns the assembler's path; empty if there is none.
static std::string findAssembler() {
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  StringRef directory = "/usr/local/cuda/bin";
  auto found = llvm::sys::findProgramByName("ptxas", directory);
  return found ? *found : "";
}

static FailureOr<SmallVector<char>> assemble(StringRef ptx, StringRef assembler,
                                             const CudaTarget &target,
                                             EmitError emitError) {
  TemporaryFile input, output;
  if (failed(create(input, "ptx", emitError)) ||
      failed(create(output, "cubin", emitError)) ||
      failed(writeFile(input.path, ptx, emitError)) ||
      failed(runProgram({assembler.str(), "-arch=" + target.arch, "-o",
                         output.path.str().str(), input.path.str().str()},
                        "assembling PTX", emitError)))
    return failure();
  return readFile(output.path, emitError);
}

FailureOr<DeviceImage> compileDevice(llvm::Module &module,
                                     const CudaTarget &target,
                                     EmitError emitError) {
  std::unique_ptr<llvm::TargetMachine> machine =
      target.createTargetMachine(emitError);
  if (!machine)
    return failure();
  std::unique_ptr<llvm::Module> kernels = splitKernels(module);
  kernels->setTargetTriple(machine->getTargetTriple());
  kernels->setDataLayout(machine->createDataLayout());
  optimize(*kernels, *machine);
  FailureOr<std::string> ptx = emitPtx(*kernels, *machine, emitError);
  if (failed(ptx))
    return failure();
  DeviceImage image;
  image.ptx = std::move(*ptx);
  std::string assembler = findAssembler();
  if (assembler.empty())
    return image;
  FailureOr<SmallVector<char>> cubin =
      assemble(image.ptx, assembler, target, emitError);
  if (failed(cubin))
    return failure();
  image.cubin = std::move(*cubin);
  return image;
}

static llvm::Constant *addBytes(llvm::Module &host, StringRef name,
                                StringRef bytes, bool addNull) {
  llvm::Constant *data =
      llvm::ConstantDataArray::getString(host.getContext(), bytes, addNull);
  auto *global =
      new llvm::GlobalVariable(host, data->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::InternalLinkage, data, name);
  global->setAlignment(llvm::Align(16));
  return global;
}

void embedImage(llvm::Module &host, const DeviceImage &image) {
  llvm::LLVMContext &context = host.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *i64 = llvm::Type::getInt64Ty(context);
  auto size = [&](size_t bytes) { return llvm::ConstantInt::get(i64, bytes); };
  // The fields of tsr_abi_device_image, in order.
  StringRef cubin(image.cubin.data(), image.cubin.size());
  SmallVector<llvm::Constant *> fields = {
      addBytes(host, "tsr_ptx", image.ptx, /*addNull=*/true),
      size(image.ptx.size() + 1),
      cubin.empty() ? llvm::ConstantPointerNull::get(pointer)
                    : addBytes(host, "tsr_cubin", cubin, /*addNull=*/false),
      size(cubin.size()), size(image.workspaceBytes)};
  auto *value = llvm::ConstantStruct::getAnon(fields);
  auto *global = new llvm::GlobalVariable(
      host, value->getType(), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, value, TSR_PROGRAM_IMAGE);
  global->setVisibility(llvm::GlobalValue::DefaultVisibility);
}

} // namespace tessera
