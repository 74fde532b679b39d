//===- Driver.h - the CUDA driver, and whether it can be used ---*- C++ -*-===//
// The driver is found at run time: the plug-in loads and explains itself on
// machines without one.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_DRIVER_H
#define TESSERA_RUNTIME_CUDA_DRIVER_H

#include "runtime/support/Status.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// The part of the driver's own interface that generated kernels need.
struct Driver {
  decltype(&cuModuleLoadDataEx) moduleLoadDataEx;
  decltype(&cuModuleUnload) moduleUnload;
  decltype(&cuModuleGetFunction) moduleGetFunction;
  decltype(&cuFuncSetAttribute) funcSetAttribute;
  decltype(&cuLaunchKernel) launchKernel;
  decltype(&cuGetErrorString) getErrorString;

  /// Found on first use; throws TSR_UNSUPPORTED.
  static const Driver &get();
  std::string errorText(CUresult result) const;
};

/// Kernels are built and tested from this compute capability on.
constexpr int minimumMajor = 8;

/// Returns why no GPU can be used here: no driver, an old one, no device, an
/// old device; empty if one can.
std::string driverProblem();

/// Returns "13.0" for 13000.
std::string versionText(int version);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_DRIVER_H
