//===- CudaDevice.h - the GPUs of this machine ------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CUDADEVICE_H
#define TESSERA_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/cuda/Image.h"
#include "runtime/device/Rank.h"

#include <map>
#include <mutex>

namespace tessera::cuda {

class CudaDevice final : public Device {
public:
  void check(const DeviceRequest &request) const override;
  /// Opens a rank; the machine's rank r runs on GPU r modulo their number, and
  /// several of one process may share one.
  std::unique_ptr<DeviceRank> openRank(Rank &rank) override;
  DeviceReport report() const override;

private:
  std::shared_ptr<Image> imageOf(int device, const Code &code);

  std::mutex mutex;
  std::map<std::pair<int, const tsr_abi_device_image *>, std::weak_ptr<Image>>
      images; ///< ranks of one GPU share it
};

/// Returns the GPUs that this process sees.
std::vector<DeviceProperties> visibleDevices();

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDADEVICE_H
