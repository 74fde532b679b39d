//===- AttentionKernels.h - fused attention on CUDA -------------*- C++ -*-===//
// Sizes and strides in elements, as in TSR_ATTENTION_* of abi.h. All pointers
// are device memory; work is queued on the stream.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_ATTENTIONKERNELS_H
#define TESSERA_CUDA_ATTENTIONKERNELS_H

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace tessera::cuda {

struct AttentionCall {
  int64_t batch, heads, kvHeads, seqQ, seqK, headDim, rowQ, rowK, rowV, rowO,
      rowDq, rowDk, rowDv, rowDo;
  bool causal;
  double scale;
  int64_t dtype;
  double dropout;
  int64_t batchStart, headStart, headsTotal;
  const uint64_t *key; /* device memory, the dropout stream's key; null without
                          dropout */
};

const char *
checkAttention(const AttentionCall &); /* null, or why it is not supported */
size_t attentionWorkspace(const AttentionCall &, bool backward);
cudaError_t attentionForward(const AttentionCall &, const void *q,
                             const void *k, const void *v, void *o, void *lse,
                             void *workspace, cudaStream_t);
cudaError_t attentionBackward(const AttentionCall &, const void *dO,
                              const void *q, const void *k, const void *v,
                              const void *o, const void *lse, void *dQ,
                              void *dK, void *dV, void *workspace,
                              cudaStream_t);

} // namespace tessera::cuda

#endif // TESSERA_CUDA_ATTENTIONKERNELS_H
