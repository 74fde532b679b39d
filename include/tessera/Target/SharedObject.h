//===- SharedObject.h - machine code of a program ---------------*- C++ -*-===//
// An LLVM dialect module as the bytes of an ELF shared object that needs
// nothing but libc and libm.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TARGET_SHAREDOBJECT_H
#define TESSERA_TARGET_SHAREDOBJECT_H

#include "lib/Target/CudaTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorOr.h"

namespace tessera {

struct SharedObjectOptions {
  /// Exports all that is defined; otherwise `tsr_program_step`
  /// alone is visible.
  bool exportKernels = false;
  /// Exports kernels that emulate-grid left to a device.
  bool exportEmulated = false;
  /// True if LLVM optimizes the code that runs on the CPU.
  bool optimize = true;
  /// Compiles the functions with nvvm.kernel, if there are any.
  std::optional<CudaTarget> cuda;
  /// The linker; empty: what findLinker finds.
  std::string linker;
  /// The path to write the optimised LLVM IR to, for people; empty: nowhere.
  std::string llvmIrPath;
  /// The path to write the PTX to, for people; empty: nowhere.
  std::string ptxPath;
};

using ObjectCode = llvm::SmallVector<char>;

/// Kernels as one object file; then, if there is a program, its host code as
/// another. What only one of them declares, the other may define. Errors are
/// diagnostics on `module`.
mlir::FailureOr<llvm::SmallVector<ObjectCode, 2>>
emitObjects(mlir::ModuleOp module, const CpuTarget &target,
            const SharedObjectOptions &options = {});

/// Returns the linker that TESSERA_LINKER names in the environment, by its path
/// or of the PATH; without it ld.lld of LLVM 22, else of the PATH.
llvm::ErrorOr<std::string> findLinker();

/// Links objects; `linker` is that of SharedObjectOptions. Symbols of neither
/// the objects nor libc or libm are an error.
mlir::FailureOr<ObjectCode> linkSharedObject(llvm::ArrayRef<ObjectCode> objects,
                                             llvm::StringRef linker,
                                             EmitError emitError);

/// Both. Errors are diagnostics on `module`.
mlir::FailureOr<ObjectCode>
emitSharedObject(mlir::ModuleOp module, const CpuTarget &target,
                 const SharedObjectOptions &options = {});

} // namespace tessera

#endif // TESSERA_TARGET_SHAREDOBJECT_H
