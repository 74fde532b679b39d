//===- SamplingKernels.h - Sampling on a stream -----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGKERNELS_H
#define TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGKERNELS_H

#include "runtime/cuda/sampling/SamplingCall.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

// Each queues its call's kernel, whose launch depends on sizes alone, so it may
// be captured; requires its check in SamplingCall.h to be "". Every run gives
// the same bits.
cudaError_t penalize(const PenalizeProblem &call, cudaStream_t stream);
cudaError_t top(const TopProblem &call, cudaStream_t stream);
cudaError_t mergeTop(const MergeTopProblem &call, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGKERNELS_H
