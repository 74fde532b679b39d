//===- StreamLaunch.cuh - Kernel bodies become kernels on a stream --------===//
// The launcher of RoutedTable.h and CacheTable.h; Emulator.h in the tests is
// the same on a CPU.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_STREAMLAUNCH_CUH
#define TESSERA_CUDA_STREAMLAUNCH_CUH

#include "runtime/cuda/attention/CudaExec.cuh"
#include "runtime/cuda/attention/TileView.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

template <typename Kernel, typename Params>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kMinBlocks)
    bodyKernel(const __grid_constant__ Params p) {
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
    // This is a setting of the current device, like the one in
    // attention/Launch.cuh.
    if (Kernel::kSharedBytes > 48 * 1024)
      if (cudaError_t error =
              cudaFuncSetAttribute(bodyKernel<Kernel, Params>,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   Kernel::kSharedBytes))
        return error;
    bodyKernel<Kernel, Params>
        <<<dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)),
           Kernel::kThreads, Kernel::kSharedBytes, stream>>>(p);
    return cudaGetLastError();
  }
};

} // namespace tessera::cuda

#endif // TESSERA_CUDA_STREAMLAUNCH_CUH
