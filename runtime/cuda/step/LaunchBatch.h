//===- LaunchBatch.h - launches that run as one -----------------*- C++ -*-===//
// The compiler says which launches of a kernel may run at the same time
// (TSR_LAUNCH_FOLLOWERS). The submission pass collects their buffers call by
// call and launches all of them with the last.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_LAUNCHBATCH_H
#define TESSERA_RUNTIME_CUDA_STEP_LAUNCHBATCH_H

#include "runtime/cuda/Image.h"
#include "runtime/cuda/step/Call.h"

namespace tessera::cuda {

class LaunchBatch {
public:
  /// Clears the batch before a pass.
  void clear() { count = 0; }
  /// Returns whether the call is one of several that run as one.
  bool has(const Call &call) const {
    return count > 0 || call.args[TSR_LAUNCH_FOLLOWERS] > 0;
  }
  /// Throws TSR_CORRUPT where launches are collected and something else comes.
  void expectEmpty() const;
  /// Launches all if the call is the last of them; throws TSR_CORRUPT if it
  /// does not belong to those before it.
  void add(const Call &call, Image &image, cudaStream_t stream);

private:
  const tsr_abi_device_kernel *kernel = nullptr;
  int64_t count = 0; ///< launches collected so far
  int64_t total = 0; ///< launches that run as one
  BatchTable table{};
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_LAUNCHBATCH_H
