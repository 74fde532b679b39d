//===- CpuTarget.cpp - the CPU that code is generated for -----------------===//

#include "lib/Target/CpuTarget.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <cstdlib>
#include <mutex>

using namespace mlir;

namespace tessera {

namespace {
/// A path of abi_cpu.def.
struct CpuPath {
  const char *name, *cpu, *features;
};
} // namespace

static constexpr CpuPath kPaths[] = {
#define TSR_CPU_PATH(ENUMERATOR, NAME, CPU, FEATURES) {NAME, CPU, FEATURES},
#include "tessera/abi_cpu.def"
#undef TSR_CPU_PATH
};

static const CpuPath *findPath(StringRef name) {
  const CpuPath *found =
      llvm::find_if(kPaths, [&](const CpuPath &p) { return name == p.name; });
  return found == std::end(kPaths) ? nullptr : found;
}

/// Lists the paths, with `last` before the last one.
static std::string pathNames(StringRef last) {
  std::string names;
  for (const CpuPath &path : kPaths) {
    if (!names.empty())
      names += &path == std::end(kPaths) - 1 ? last : ", ";
    names += path.name;
  }
  return names;
}

static constexpr const char *kKnownCpus =
    "native, x86-64-v2, x86-64-v3, x86-64-v4, haswell, skylake-avx512, "
    "icelake-server, sapphirerapids, znver2, znver3, znver4, znver5";

/// Registers the target once: LLVM's list of targets is not guarded, and two
/// programs may be compiled at the same time.
static void registerTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

static const llvm::Target *findTarget(const llvm::Triple &triple,
                                      EmitError emitError) {
  registerTarget();
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target)
    emitError() << "no code generator for '" << triple.str() << "': " << why;
  return target;
}

static std::string hostFeatures() {
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.getKey(), feature.getValue());
  return features.getString();
}

static unsigned widestVector(const llvm::MCSubtargetInfo &info) {
  if (info.checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq"))
    return 512;
  return info.checkFeatures("+avx2") ? 256 : 128;
}

FailureOr<CpuTarget> CpuTarget::get(StringRef name, EmitError emitError) {
  CpuTarget result;
  result.triple = llvm::sys::getDefaultTargetTriple();
  llvm::Triple triple(result.triple);
  const llvm::Target *target = findTarget(triple, emitError);
  if (!target)
    return failure();
  result.cpu = name.str();
  StringRef chosen = name;
  if (const char *wanted = std::getenv("TESSERA_CPU");
      name == "native" && wanted && *wanted)
    chosen = wanted;
  if (const CpuPath *path = findPath(chosen)) {
    result.cpu = path->cpu;
    if (*path->features)
      result.features = "+" + std::string(path->features);
  } else if (chosen != name) {
    emitError() << "TESSERA_CPU is '" << chosen << "', which is no path; use "
                << pathNames(" or ") << ", or unset it";
    return failure();
  } else if (name == "native") {
    result.cpu = llvm::sys::getHostCPUName().str();
    result.features = hostFeatures();
  }
  // A subtarget of an unknown CPU prints to stderr, so ask one without a CPU.
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!generic->isCPUStringValid(result.cpu)) {
    emitError() << "unknown cpu '" << name << "'; use one of " << kKnownCpus
                << ", or of the paths " << pathNames(", ");
    return failure();
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, result.cpu, result.features));
  result.vectorBits = widestVector(*info);
  return result;
}

std::unique_ptr<llvm::TargetMachine>
CpuTarget::createTargetMachine(EmitError emitError) const {
  llvm::Triple parsed(triple);
  const llvm::Target *target = findTarget(parsed, emitError);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.UseInitArray = true; // the linker drops the older .ctors
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      parsed, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
  if (!machine)
    emitError() << "cannot create a code generator for '" << triple << "'";
  return machine;
}

} // namespace tessera
