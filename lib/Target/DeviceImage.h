//===- DeviceImage.h - CUDA kernels as data of the host program -*- C++ -*-===//
#ifndef TESSERA_LIB_TARGET_DEVICEIMAGE_H
#define TESSERA_LIB_TARGET_DEVICEIMAGE_H

#include "lib/Target/CudaTarget.h"
#include "llvm/IR/Module.h"

namespace tessera {

/// PTX, and a cubin where an assembler was found.
struct DeviceImage {
  std::string ptx;
  llvm::SmallVector<char> cubin;
  int64_t workspaceBytes = 0; ///< the most that a kernel needs
};

/// Moves the functions with nvvm.kernel out of `module` and compiles them.
/// ptxas is that of the PATH or of /usr/local/cuda; without one there is no
/// cubin.
mlir::FailureOr<DeviceImage> compileDevice(llvm::Module &module,
                                           const CudaTarget &target,
                                           EmitError emitError);

/// Adds the image to `host` as TSR_PROGRAM_IMAGE (abi.h).
void embedImage(llvm::Module &host, const DeviceImage &image);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_DEVICEIMAGE_H
