//===- CacheKernels.h - Caches on a stream ----------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_CACHEKERNELS_H
#define TESSERA_RUNTIME_CUDA_CACHES_CACHEKERNELS_H

#include "runtime/cuda/caches/CacheCall.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

// Each queues its call's kernels, whose launches depend on sizes alone, so it
// may be captured; requires its check in CacheCall.h to be "". Every run gives
// the same bits.
cudaError_t append(const AppendProblem &call, cudaStream_t stream);
/// Needs a workspace of cachedAttentionWorkspace bytes.
cudaError_t cachedAttention(const CacheProblem &call, void *workspace,
                            cudaStream_t stream);
cudaError_t mergeMeans(const MeansProblem &call, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_CACHEKERNELS_H
