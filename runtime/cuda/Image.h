//===- Image.h - the generated kernels of a program -------------*- C++ -*-===//
// Loaded once per GPU: the cubin where it fits, else PTX through the driver's
// compiler.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_IMAGE_H
#define TESSERA_RUNTIME_CUDA_IMAGE_H

#include "runtime/cuda/Driver.h"
#include "tessera/abi.h"

#include <map>
#include <mutex>

namespace tessera::cuda {

class Image {
public:
  /// Into the current device. TSR_UNSUPPORTED, TSR_CORRUPT with the compiler's
  /// words.
  explicit Image(const tsr_abi_device_image &image);
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image();

  /// Looked up once; throws TSR_CORRUPT if the image has no such function.
  CUfunction find(const tsr_abi_device_kernel &kernel);
  /// The kernel and those that follow it.
  void launch(const tsr_abi_device_kernel &kernel, void *const *buffers,
              const int64_t *scalars, void *workspace, cudaStream_t stream);
  /// "code for this GPU", or "PTX compiled by the driver: ..."
  const std::string &origin() const { return description; }

private:
  bool loadCubin(const tsr_abi_device_image &image);
  void loadPtx(const tsr_abi_device_image &image);

  const Driver &driver;
  CUmodule module = nullptr;
  std::string description;
  std::mutex mutex;
  std::map<const tsr_abi_device_kernel *, CUfunction> functions;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_IMAGE_H
