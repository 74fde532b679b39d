//===- RoutedKernels.cu - Kernel bodies become kernels --------------------===//

#include "runtime/cuda/attention/CudaExec.cuh"
#include "runtime/cuda/experts/RoutedKernels.h"
#include "runtime/cuda/experts/RoutedTable.h"

namespace tessera::cuda {

namespace {
template <typename Kernel, typename Params>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kMinBlocks)
    routedKernel(const __grid_constant__ Params p) {
  extern __shared__ __align__(256) unsigned char shared[];
  Kernel::template run<CudaExec>(p, shared);
}

struct StreamLaunch {
  using Status = cudaError_t;
  cudaStream_t stream;

  template <typename Kernel, typename Params>
  cudaError_t run(const Params &p) const {
    const Grid grid = Kernel::grid(p);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
      return cudaSuccess;
    // As in attention/Launch.cuh: a setting of the current device.
    if (Kernel::kSharedBytes > 48 * 1024)
      if (cudaError_t error =
              cudaFuncSetAttribute(routedKernel<Kernel, Params>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   Kernel::kSharedBytes))
        return error;
    routedKernel<Kernel, Params>
        <<<dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)),
           Kernel::kThreads, Kernel::kSharedBytes, stream>>>(p);
    return cudaGetLastError();
  }
};
} // namespace

cudaError_t routed(const RoutedProblem &call, void *workspace,
                   cudaStream_t stream, int *taken) {
  return runRouted(call, workspace, StreamLaunch{stream}, taken);
}

cudaError_t zeroUnrouted(const GatedRows &rows, cudaStream_t stream) {
  return StreamLaunch{stream}.run<ZeroUnrouted>(unroutedOf(rows));
}

} // namespace tessera::cuda
