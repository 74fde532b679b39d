//===- Launch.cuh - A kernel body becomes a kernel --------------*- C++ -*-===//
#ifndef TESSERA_CUDA_ATTENTION_LAUNCH_CUH
#define TESSERA_CUDA_ATTENTION_LAUNCH_CUH

#include "runtime/cuda/attention/CudaExec.cuh"
#include "runtime/cuda/attention/Launch.h"

namespace tessera::cuda {

template <typename Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kMinBlocks)
    attentionKernel(const __grid_constant__ AttentionParams p) {
  extern __shared__ __align__(256) unsigned char shared[];
  Kernel::template run<CudaExec>(p, shared);
}

template <typename Kernel>
cudaError_t CudaLaunch::launch(const AttentionParams &p, cudaStream_t stream) {
  const Grid grid = Kernel::grid(p);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return cudaSuccess;
  // More than 48 KiB must be asked for (CUDA C++ Programming Guide, "Shared
  // Memory"). It is a setting of the current device, so every launch makes it.
  if (Kernel::kSharedBytes > 48 * 1024)
    if (cudaError_t error = cudaFuncSetAttribute(
            attentionKernel<Kernel>,
            cudaFuncAttributeMaxDynamicSharedMemorySize, Kernel::kSharedBytes))
      return error;
  attentionKernel<Kernel>
      <<<dim3(unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)),
         Kernel::kThreads, Kernel::kSharedBytes, stream>>>(p);
  return cudaGetLastError();
}

} // namespace tessera::cuda

#endif // TESSERA_CUDA_ATTENTION_LAUNCH_CUH
