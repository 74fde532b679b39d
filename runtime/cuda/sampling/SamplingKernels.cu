//===- SamplingKernels.cu - Sampling on a stream --------------------------===//

#include "runtime/cuda/StreamLaunch.cuh"
#include "runtime/cuda/sampling/SamplingKernels.h"
#include "runtime/cuda/sampling/SamplingTable.h"

namespace tessera::cuda {

cudaError_t penalize(const PenalizeProblem &call, cudaStream_t stream) {
  return runPenalize(call, StreamLaunch{stream});
}

cudaError_t top(const TopProblem &call, cudaStream_t stream) {
  return runTop(call, StreamLaunch{stream});
}

cudaError_t mergeTop(const MergeTopProblem &call, cudaStream_t stream) {
  return runMergeTop(call, StreamLaunch{stream});
}

} // namespace tessera::cuda
