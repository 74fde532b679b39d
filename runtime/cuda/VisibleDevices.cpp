//===- VisibleDevices.cpp - the GPUs that this process sees ---------------===//

#include "runtime/cuda/CudaDevice.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

std::vector<DeviceProperties> visibleDevices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess)
    count = 0;
  cudaGetLastError();
  std::vector<DeviceProperties> devices;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p{};
    if (cudaGetDeviceProperties(&p, device) == cudaSuccess)
      devices.push_back({p.name, concat("sm_", p.major, p.minor),
                         static_cast<int64_t>(p.totalGlobalMem),
                         p.multiProcessorCount});
  }
  return devices;
}

} // namespace tessera::cuda
