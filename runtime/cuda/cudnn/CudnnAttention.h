//===- CudnnAttention.h - attention through cuDNN ---------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CUDNN_CUDNNATTENTION_H
#define TESSERA_RUNTIME_CUDA_CUDNN_CUDNNATTENTION_H

#include "runtime/cuda/attention/Attention.h"

#include <map>
#include <memory>
#include <string>

namespace tessera::cuda {

/// The calls of one rank. A plan is made once per shape, in the first walk over
/// a program; what it does not take is for our own kernels. Backward stores the
/// gradient of the scores, so a batch is computed in as many parts as keep that
/// within a limit.
class CudnnAttention {
public:
  /// Bytes.
  static constexpr int64_t storedScoresLimit = int64_t(1) << 30;

  explicit CudnnAttention(int64_t mostStoredScores = storedScoresLimit);
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;
  ~CudnnAttention();

  /// Returns whether cuDNN computes the call. Buffers are those of the entry.
  bool takes(const AttentionCall &call, Direction direction,
             void *const *buffers);
  /// The rest is for calls that it takes. Bytes, like attentionWorkspace.
  size_t workspaceOf(const AttentionCall &call, Direction direction) const;
  /// Queues the work. Throws.
  void run(const AttentionCall &call, Direction direction, void *const *buffers,
           void *workspace, cudaStream_t stream);

  /// Returns why cuDNN computes no attention at all; empty if it may. Throws a
  /// wrong TESSERA_CUDNN.
  static std::string absence();
  /// Returns "9.19.0"; empty if there is no cuDNN.
  static std::string version();

  /// Says who computes attention, and why it is not cuDNN if so; empty without
  /// calls.
  std::string describe() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDNN_CUDNNATTENTION_H
