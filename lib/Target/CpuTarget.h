//===- CpuTarget.h - the CPU that code is generated for ---------*- C++ -*-===//
// Names a CPU by LLVM's name, "native" or "x86-64-v3" and the like.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_TARGET_CPUTARGET_H
#define TESSERA_LIB_TARGET_CPUTARGET_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace tessera {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

struct CpuTarget {
  std::string triple, cpu, features;
  /// Width of the widest vector register that code should use: 128, 256, 512.
  unsigned vectorBits = 128;

  /// Finds a target. "native" is the CPU of this machine with the features it
  /// reports, or the path that TESSERA_CPU names (abi_cpu.def), which is a
  /// name, too. An unknown name is an error that lists valid ones.
  static mlir::FailureOr<CpuTarget> get(llvm::StringRef name,
                                        EmitError emitError);

  std::unique_ptr<llvm::TargetMachine>
  createTargetMachine(EmitError emitError) const;
};

} // namespace tessera

#endif // TESSERA_LIB_TARGET_CPUTARGET_H
