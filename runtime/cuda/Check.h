//===- Check.h - CUDA's error codes as the runtime's errors -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CHECK_H
#define TESSERA_RUNTIME_CUDA_CHECK_H

#include "runtime/support/Status.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Returns "an illegal memory access was encountered
/// (cudaErrorIllegalAddress)".
std::string errorText(cudaError_t error);

/// Returns OK, or `what` and the error.
Status statusOf(cudaError_t error, const char *what);

/// Throws what statusOf gives.
void check(cudaError_t error, const char *what);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CHECK_H
