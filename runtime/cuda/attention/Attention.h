//===- Attention.h - attention's arguments for the kernels ------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTION_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTION_H

#include "runtime/cuda/attention/AttentionKernels.h"

#include "runtime/support/Status.h"

namespace tessera::cuda {

enum class Direction { Forward, Backward };

/// Decodes TSR_ATTENTION_*; throws what is wrong or not supported. The key is
/// null: it is set when its address is known.
AttentionCall decodeAttentionCall(const int64_t *args);
size_t workspaceOf(const AttentionCall &call, Direction direction);
void runAttention(const AttentionCall &call, Direction direction,
                  void *const *buffers, void *workspace, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTION_H
