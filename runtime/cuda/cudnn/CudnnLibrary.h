//===- CudnnLibrary.h - cuDNN, found at run time ----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CUDNN_CUDNNLIBRARY_H
#define TESSERA_RUNTIME_CUDA_CUDNN_CUDNNLIBRARY_H

#include <cudnn_graph.h>
#include <string>

namespace tessera::cuda {

/// The part of cuDNN that attention needs: its graph interface.
struct CudnnLibrary {
  decltype(&cudnnGetVersion) getVersion;
  decltype(&cudnnGetErrorString) getErrorString;
  decltype(&cudnnGetLastErrorString) getLastErrorString;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) setStream;
  decltype(&cudnnBackendCreateDescriptor) createDescriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroyDescriptor;
  decltype(&cudnnBackendSetAttribute) setAttribute;
  decltype(&cudnnBackendGetAttribute) getAttribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;

  /// Opened on first use; null where there is none or an older one than 9.8.
  static const CudnnLibrary *find();
  /// Returns "9.19.0"; empty if there is no cuDNN at all.
  static const std::string &version();

  /// Returns its last message on this thread; may be empty.
  std::string lastError() const;
  /// Throws TSR_INTERNAL, TSR_UNSUPPORTED for what the library cannot do.
  void check(cudnnStatus_t status, const char *what) const;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDNN_CUDNNLIBRARY_H
