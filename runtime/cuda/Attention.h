//===- Attention.h - attention's arguments for the kernels ------*- C++ -*-===//
#ifndef TESSERA_CUDA_ATTENTION_H
#define TESSERA_CUDA_ATTENTION_H

#include "attention/AttentionKernels.h"

#include "Status.h"

namespace tessera::cuda {

enum class Direction { Forward, Backward };

/// TSR_ATTENTION_* decoded; throws what is wrong or not supported. The key is
/// null: it is set when its address is known.
AttentionCall decodeAttentionCall(const int64_t *args);
size_t workspaceOf(const AttentionCall &call, Direction direction);
void runAttention(const AttentionCall &call, Direction direction,
                  void *const *buffers, void *workspace, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_CUDA_ATTENTION_H
