#include "runtime/cuda/cudnn/Descriptor.h"

namespace tessera::cuda {

Descriptor::Descriptor(const CudnnLibrary &cudnn,
                       cudnnBackendDescriptorType_t type)
    : cudnn(&cudnn) {
  cudnn.check(cudnn.createDescriptor(type, &descriptor), "making a descriptor");
}

Descriptor::~Descriptor() {
  if (descriptor)
    cudnn->destroyDescriptor(descriptor);
}

void Descriptor::set(cudnnBackendAttributeName_t name,
                     cudnnBackendAttributeType_t type, int64_t count,
                     const void *values) {
  cudnn->check(cudnn->setAttribute(descriptor, name, type, count, values),
               "setting an attribute");
}

void Descriptor::set(cudnnBackendAttributeName_t name, int64_t value) {
  set(name, CUDNN_TYPE_INT64, 1, &value);
}

void Descriptor::set(cudnnBackendAttributeName_t name, bool value) {
  set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnHandle_t value) {
  set(name, CUDNN_TYPE_HANDLE, 1, &value);
}

void Descriptor::set(cudnnBackendAttributeName_t name,
                     const Descriptor &value) {
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor);
}

void Descriptor::set(cudnnBackendAttributeName_t name,
                     const std::vector<int64_t> &values) {
  set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()),
      values.data());
}

void Descriptor::finalize(const char *what) {
  cudnn->check(cudnn->finalize(descriptor), what);
}

int64_t Descriptor::get(cudnnBackendAttributeName_t name) const {
  int64_t value = 0, count = 0;
  cudnn->check(cudnn->getAttribute(descriptor, name, CUDNN_TYPE_INT64, 1,
                                   &count, &value),
               "reading an attribute");
  return value;
}

} // namespace tessera::cuda
