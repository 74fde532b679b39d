//===- CudaTarget.cpp - the GPU that kernels are generated for ------------===//

#include "lib/Target/CudaTarget.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir;

namespace tessera {

static constexpr const char *kTriple = "nvptx64-nvidia-cuda";
/// bf16 matrix products and 16-byte asynchronous copies start here.
static constexpr unsigned kOldest = 80;
/// The first architecture for which LLVM by itself chooses a PTX that is newer
/// than kLongParameters.
static constexpr unsigned kBlackwell = 100;
/// PTX 8.1 (CUDA 12.1) lifts the limit of 4352 bytes of parameters, which a sum
/// over the gradients of some 45 layers exceeds.
static constexpr const char *kLongParameters = "+ptx81";

/// Registers the target once: LLVM's list of targets is not guarded, and two
/// programs may be compiled at the same time.
static void registerTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static const llvm::Target *findTarget(const llvm::Triple &triple,
                                      EmitError emitError) {
  registerTarget();
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target)
    emitError() << "this LLVM has no code generator for '" << kTriple
                << "': " << why;
  return target;
}

/// Returns 90 for "sm_90a".
static unsigned numberOf(StringRef arch) {
  unsigned number = 0;
  arch.consume_front("sm_");
  arch.consumeInteger(10, number);
  return number;
}

FailureOr<CudaTarget> CudaTarget::get(StringRef arch, EmitError emitError) {
  llvm::Triple triple(kTriple);
  const llvm::Target *target = findTarget(triple, emitError);
  if (!target)
    return failure();
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      target->createMCSubtargetInfo(triple, "", ""));
  bool isKnown = arch.starts_with("sm_") && generic->isCPUStringValid(arch);
  if (isKnown && numberOf(arch) >= kOldest)
    return CudaTarget{arch.str()};
  return emitError() << "cuda architecture '" << arch << "' is "
                     << (isKnown ? "too old" : "unknown")
                     << "; use sm_80 (A100), sm_89, sm_90 (H100, H200), sm_100 "
                        "or another that LLVM "
                     << LLVM_VERSION_STRING << " knows";
}

std::unique_ptr<llvm::TargetMachine>
CudaTarget::createTargetMachine(EmitError emitError) const {
  llvm::Triple triple(kTriple);
  const llvm::Target *target = findTarget(triple, emitError);
  if (!target)
    return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, arch, numberOf(arch) < kBlackwell ? kLongParameters : "",
      llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    emitError() << "cannot create a code generator for '" << arch << "'";
  return machine;
}

} // namespace tessera
