//===- RoutedKernels.h - Experts on a stream --------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDKERNELS_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDKERNELS_H

#include "runtime/cuda/experts/RoutedCall.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Queues the call's kernels; their launches depend on its sizes alone, so it
/// may be captured. Requires checkRouted(call) to be "" and routedWorkspace
/// bytes. Every run gives the same bits. A call of ROUNDS, which alone has
/// `taken`, sets it to the number of rounds that it makes, if that is more.
cudaError_t routed(const RoutedProblem &call, void *workspace,
                   cudaStream_t stream, int *taken = nullptr);

/// Rows whose gate is zero become zero. Requires checkGatedRows to be "".
cudaError_t zeroUnrouted(const GatedRows &rows, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDKERNELS_H
