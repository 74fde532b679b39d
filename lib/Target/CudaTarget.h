//===- CudaTarget.h - the GPU that kernels are generated for ----*- C++ -*-===//
#ifndef TESSERA_LIB_TARGET_CUDATARGET_H
#define TESSERA_LIB_TARGET_CUDATARGET_H

#include "lib/Target/CpuTarget.h"

namespace tessera {

struct CudaTarget {
  /// The meaning of `--device cuda`.
  static constexpr const char *kDefault = "sm_90";

  std::string arch; ///< LLVM's and ptxas's name: "sm_90".

  /// The error names the architectures that can be used: sm_80 and later.
  static mlir::FailureOr<CudaTarget> get(llvm::StringRef arch,
                                         EmitError emitError);
  std::unique_ptr<llvm::TargetMachine>
  createTargetMachine(EmitError emitError) const;
};

} // namespace tessera

#endif // TESSERA_LIB_TARGET_CUDATARGET_H
