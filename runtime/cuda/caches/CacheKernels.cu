//===- CacheKernels.cu - Caches on a stream -------------------------------===//

#include "runtime/cuda/StreamLaunch.cuh"
#include "runtime/cuda/caches/CacheKernels.h"
#include "runtime/cuda/caches/CacheTable.h"

namespace tessera::cuda {

cudaError_t append(const AppendProblem &call, cudaStream_t stream) {
  return runAppend(call, StreamLaunch{stream});
}

cudaError_t cachedAttention(const CacheProblem &call, void *workspace,
                            cudaStream_t stream) {
  return runCachedAttention(call, workspace, StreamLaunch{stream});
}

cudaError_t mergeMeans(const MeansProblem &call, cudaStream_t stream) {
  return runMergeMeans(call, StreamLaunch{stream});
}

} // namespace tessera::cuda
