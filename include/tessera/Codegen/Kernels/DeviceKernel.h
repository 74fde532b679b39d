//===- DeviceKernel.h - what host code knows of a CUDA kernel ---*- C++ -*-===//
#ifndef TESSERA_CODEGEN_KERNELS_DEVICEKERNEL_H
#define TESSERA_CODEGEN_KERNELS_DEVICEKERNEL_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir {
class Operation;
}

namespace tessera {

/// Returns whether a function is a kernel of an accelerator.
bool isDeviceKernel(mlir::Operation *function);

/// Returns the symbol of a kernel's tsr_abi_device_kernel in host code.
std::string deviceKernelSymbol(llvm::StringRef kernel);

/// Returns the symbol of a kernel's form for several launches at once.
std::string batchedKernelSymbol(llvm::StringRef kernel);

/// The table of the kernels that a program launches; its lists of calls have
/// their numbers.
inline constexpr llvm::StringLiteral kKernelTableSymbol = "tsr_kernels";

/// The functions that programs of the pass emulate-grid call, in this order.
/// They look for a table with the name kGridEmulatorSymbol in the process that
/// loads them.
struct GridEmulator {
  /// Runs the kernel, a tsr_abi_device_kernel, and those after it for the one
  /// range of [0, count) that begins at 0 and is not empty. `threads` holds a
  /// function for each, which runs in every thread of its grid.
  void (*run)(void *const *threads, const void *kernel, int64_t workspaceBytes,
              void *const *buffers, const int64_t *scalars, int64_t begin,
              int64_t end);
  int32_t (*thread)();
  int32_t (*block)();
  /// Returns the number of the launch, among those that run as one.
  int32_t (*launch)();
  /// The value of lane (own ^ mask) of the warp.
  int32_t (*shuffle)(int32_t value, int32_t mask);
  void (*barrier)();
  void (*warpBarrier)();
  void *(*shared)();
};
inline constexpr llvm::StringLiteral kGridEmulatorSymbol = "tsr_grid_emulator";

} // namespace tessera

#endif // TESSERA_CODEGEN_KERNELS_DEVICEKERNEL_H
