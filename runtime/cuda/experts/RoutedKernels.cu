//===- RoutedKernels.cu - Experts on a stream -----------------------------===//

#include "runtime/cuda/StreamLaunch.cuh"
#include "runtime/cuda/experts/RoutedKernels.h"
#include "runtime/cuda/experts/RoutedTable.h"

namespace tessera::cuda {

cudaError_t routed(const RoutedProblem &call, void *workspace,
                   cudaStream_t stream, int *taken) {
  return runRouted(call, workspace, StreamLaunch{stream}, taken);
}

cudaError_t zeroUnrouted(const GatedRows &rows, cudaStream_t stream) {
  return StreamLaunch{stream}.run<ZeroUnrouted>(unroutedOf(rows));
}

} // namespace tessera::cuda
