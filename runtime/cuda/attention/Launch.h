//===- Launch.h - Launches on a stream --------------------------*- C++ -*-===//
// The launcher that KernelTable.h is given on a GPU. The template is
// instantiated in the .cu files, one per family, so that they compile apart.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_LAUNCH_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_LAUNCH_H

#include "runtime/cuda/attention/AttentionParams.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

struct CudaLaunch {
  using Status = cudaError_t;
  cudaStream_t stream;

  template <typename Kernel> Status run(const AttentionParams &p) const {
    return launch<Kernel>(p, stream);
  }

  template <typename Kernel>
  static cudaError_t launch(const AttentionParams &p, cudaStream_t stream);
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_LAUNCH_H
