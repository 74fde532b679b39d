//===- Descriptor.h - an object of cuDNN's graph interface ------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CUDNN_DESCRIPTOR_H
#define TESSERA_RUNTIME_CUDA_CUDNN_DESCRIPTOR_H

#include "runtime/cuda/cudnn/CudnnLibrary.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::cuda {

/// Owns a descriptor. All functions throw what CudnnLibrary::check throws.
class Descriptor {
public:
  Descriptor(const CudnnLibrary &cudnn, cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor &&other) noexcept
      : cudnn(other.cudnn),
        descriptor(std::exchange(other.descriptor, nullptr)) {}
  Descriptor &operator=(Descriptor &&) = delete;
  ~Descriptor();

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           int64_t count, const void *values);
  void set(cudnnBackendAttributeName_t name, int64_t value);
  void set(cudnnBackendAttributeName_t name, bool value);
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void set(cudnnBackendAttributeName_t name, cudnnHandle_t value);
  void set(cudnnBackendAttributeName_t name, const Descriptor &value);
  void set(cudnnBackendAttributeName_t name,
           const std::vector<int64_t> &values);
  void finalize(const char *what);

  int64_t get(cudnnBackendAttributeName_t name) const;
  cudnnBackendDescriptor_t raw() const { return descriptor; }
  const CudnnLibrary &library() const { return *cudnn; }

private:
  const CudnnLibrary *cudnn;
  cudnnBackendDescriptor_t descriptor = nullptr;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDNN_DESCRIPTOR_H
