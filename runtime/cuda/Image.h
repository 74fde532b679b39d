//===- Image.h - the generated kernels of a program -------------*- C++ -*-===//
// Loaded once per GPU: the cubin where it fits, else PTX through the driver's
// compiler.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_IMAGE_H
#define TESSERA_RUNTIME_CUDA_IMAGE_H

#include "runtime/cuda/Driver.h"
#include "tessera/abi.h"

#include <array>
#include <map>
#include <mutex>

namespace tessera::cuda {

/// The buffers of launches that run as one.
using BatchTable = std::array<void *, TSR_BATCH_POINTERS>;

class Image {
public:
  /// Loads the image into the current device. TSR_UNSUPPORTED, TSR_CORRUPT with
  /// the compiler's words.
  explicit Image(const tsr_abi_device_image &image);
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image();

  /// Finds a function, which is looked up once; throws TSR_CORRUPT if the image
  /// has none.
  CUfunction find(const tsr_abi_device_kernel &kernel) {
    return find(kernel, kernel.name);
  }
  /// Finds its form for several launches.
  CUfunction findBatched(const tsr_abi_device_kernel &kernel) {
    return find(kernel, kernel.batched);
  }
  /// Launches the kernel and those that follow it.
  void launch(const tsr_abi_device_kernel &kernel, void *const *buffers,
              const int64_t *scalars, void *workspace, cudaStream_t stream);
  /// Launches so many launches of a kernel as one.
  void launchBatch(const tsr_abi_device_kernel &kernel, int64_t launches,
                   BatchTable &table, cudaStream_t stream);
  /// Returns "code for this GPU", or "PTX compiled by the driver: ...".
  const std::string &origin() const { return description; }

private:
  bool loadCubin(const tsr_abi_device_image &image);
  void loadPtx(const tsr_abi_device_image &image);
  CUfunction find(const tsr_abi_device_kernel &kernel, const char *name);
  void launch(const tsr_abi_device_kernel &kernel, const char *name,
              int64_t launches, void **parameters, cudaStream_t stream);

  const Driver &driver;
  CUmodule module = nullptr;
  std::string description;
  std::mutex mutex;
  /// Keyed by the addresses of the program's strings.
  std::map<const char *, CUfunction> functions;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_IMAGE_H
