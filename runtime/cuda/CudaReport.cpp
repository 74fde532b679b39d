//===- CudaReport.cpp - what of CUDA this machine has ---------------------===//

#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/collectives/Collectives.h"
#include "runtime/cuda/cudnn/CudnnAttention.h"

#include <cublasLt.h>

namespace tessera::cuda {

namespace {
DevicePart driverPart() {
  int version = 0;
  cudaDriverGetVersion(&version);
  return {"cuda driver", version ? "for CUDA " + versionText(version) : "",
          "no GPU can be used",
          "apt-get install nvidia-driver (non-free), on a machine with a GPU"};
}

DevicePart devicePart() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess)
    devices = 0;
  cudaGetLastError();
  std::string text;
  for (int device = 0; device < devices; ++device) {
    cudaDeviceProp p{};
    if (cudaGetDeviceProperties(&p, device) == cudaSuccess)
      text +=
          concat(text.empty() ? "" : ", ", p.name, " (compute capability ",
                 p.major, ".", p.minor, ", ", p.totalGlobalMem >> 20, " MiB)");
  }
  return {"cuda devices", text, "no GPU can be used",
          "see nvidia-smi and CUDA_VISIBLE_DEVICES"};
}

DevicePart runtimePart() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return {"cuda toolkit", versionText(version), "", ""};
}

DevicePart productsPart() {
  size_t version = cublasLtGetVersion();
  return {
      "cublasLt",
      concat(version / 10000, ".", version % 10000 / 100, ".", version % 100),
      "", ""};
}

/// Returns the version, where attention uses it.
DevicePart cudnnPart() {
  std::string absence = CudnnAttention::absence();
  return {"cudnn", absence.empty() ? CudnnAttention::version() : "",
          concat("attention by Tessera's kernels: ", absence),
          "apt-get install libcudnn9-dev-cuda-13, and build the plug-in again"};
}

DevicePart attentionPart() { return {"attention", "own kernels", "", ""}; }
} // namespace

DeviceReport CudaDevice::report() const {
  return {driverProblem(),
          {driverPart(),
           devicePart(),
           runtimePart(),
           productsPart(),
           attentionPart(),
           {"nccl", ncclVersion(), "--communicator nccl is refused",
            "apt-get install libnccl2"},
           cudnnPart()},
          visibleDevices()};
}

} // namespace tessera::cuda
