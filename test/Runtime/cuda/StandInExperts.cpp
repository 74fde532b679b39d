//===- StandInExperts.cpp - the experts' own kernels in stream order ------===//
// The code that runs on a GPU, thread by thread under the emulator, with the
// workspace that the device reserved.

#include "runtime/cuda/experts/RoutedKernels.h"
#include "runtime/cuda/experts/RoutedTable.h"
#include "test/Runtime/cuda/StandInStream.h"
#include "test/Runtime/cuda/attention/Emulator.h"

#include <cstdio>

namespace tessera::cuda {

static void expectNone(const std::string &defect) {
  if (defect.empty())
    return;
  std::fprintf(stderr, "a kernel of experts: %s\n", defect.c_str());
  std::abort();
}

cudaError_t routed(const RoutedProblem &call, void *workspace,
                   cudaStream_t stream, int *taken) {
  stream->push([call, workspace, taken] {
    expectNone(runRouted(call, workspace, test::Emulator{}, taken));
  });
  return cudaSuccess;
}

cudaError_t zeroUnrouted(const GatedRows &rows, cudaStream_t stream) {
  stream->push([rows] {
    expectNone(test::Emulator{}.run<ZeroUnrouted>(unroutedOf(rows)));
  });
  return cudaSuccess;
}

} // namespace tessera::cuda
