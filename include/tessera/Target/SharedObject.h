//===- SharedObject.h - machine code of a program ---------------*- C++ -*-===//
// An LLVM dialect module as the bytes of an ELF shared object that needs
// nothing but libc and libm.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TARGET_SHAREDOBJECT_H
#define TESSERA_TARGET_SHAREDOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Target/CudaTarget.h"

namespace tessera {

struct SharedObjectOptions {
  /// Exports all that is defined; otherwise `tsr_program_step`
  /// alone is visible.
  bool exportKernels = false;
  /// Of the functions with nvvm.kernel, if there are any.
  std::optional<CudaTarget> cuda;
  /// The linker; empty: ld.lld of LLVM 22, else of the PATH.
  std::string linker;
  /// Where to write the optimised LLVM IR, for people; empty: nowhere.
  std::string llvmIrPath;
  /// Where to write the PTX, for people; empty: nowhere.
  std::string ptxPath;
};

/// Errors are diagnostics on `module`.
mlir::FailureOr<llvm::SmallVector<char>>
emitSharedObject(mlir::ModuleOp module, const CpuTarget &target,
                 const SharedObjectOptions &options = {});

} // namespace tessera

#endif // TESSERA_TARGET_SHAREDOBJECT_H
