//===- StandInCaches.cpp - the caches' own kernels in stream order --------===//
// The code that runs on a GPU, thread by thread under the emulator, with the
// workspace that the device reserved.

#include "runtime/cuda/caches/CacheKernels.h"
#include "runtime/cuda/caches/CacheTable.h"
#include "test/Runtime/cuda/StandInStream.h"
#include "test/Runtime/cuda/attention/Emulator.h"

#include <cstdio>

namespace tessera::cuda {

static void expectNone(const std::string &defect) {
  if (defect.empty())
    return;
  std::fprintf(stderr, "a kernel of caches: %s\n", defect.c_str());
  std::abort();
}

cudaError_t append(const AppendProblem &call, cudaStream_t stream) {
  stream->push([call] { expectNone(runAppend(call, test::Emulator{})); });
  return cudaSuccess;
}

cudaError_t cachedAttention(const CacheProblem &call, void *workspace,
                            cudaStream_t stream) {
  stream->push([call, workspace] {
    expectNone(runCachedAttention(call, workspace, test::Emulator{}));
  });
  return cudaSuccess;
}

cudaError_t mergeMeans(const MeansProblem &call, cudaStream_t stream) {
  stream->push([call] { expectNone(runMergeMeans(call, test::Emulator{})); });
  return cudaSuccess;
}

} // namespace tessera::cuda
