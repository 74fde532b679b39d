//===- StandInSampling.cpp - sampling's own kernels in stream order -------===//
// The code that runs on a GPU, thread by thread under the emulator.

#include "runtime/cuda/sampling/SamplingKernels.h"
#include "runtime/cuda/sampling/SamplingTable.h"
#include "test/Runtime/cuda/StandInStream.h"
#include "test/Runtime/cuda/attention/Emulator.h"

#include <cstdio>

namespace tessera::cuda {

template <class Run> static cudaError_t push(cudaStream_t stream, Run run) {
  stream->push([run] {
    const std::string defect = run(test::Emulator{});
    if (defect.empty())
      return;
    std::fprintf(stderr, "a kernel of sampling: %s\n", defect.c_str());
    std::abort();
  });
  return cudaSuccess;
}

cudaError_t penalize(const PenalizeProblem &call, cudaStream_t stream) {
  return push(stream, [call](const auto &on) { return runPenalize(call, on); });
}

cudaError_t top(const TopProblem &call, cudaStream_t stream) {
  return push(stream, [call](const auto &on) { return runTop(call, on); });
}

cudaError_t mergeTop(const MergeTopProblem &call, cudaStream_t stream) {
  return push(stream, [call](const auto &on) { return runMergeTop(call, on); });
}

} // namespace tessera::cuda
