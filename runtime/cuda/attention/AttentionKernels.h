//===- AttentionKernels.h - Attention on a GPU ------------------*- C++ -*-===//
// FlashAttention-2 (Dao 2023) for f32 and bf16, forward and backward, without
// atomics: the bits of a result depend on nothing but the inputs. Launches are
// asynchronous on the stream; no entry allocates or synchronises.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONKERNELS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONKERNELS_H

#include "runtime/cuda/attention/AttentionCall.h"

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Writes o [batch, seqQ, heads, headDim] and lse (f32 [batch, heads, seqQ]).
/// `workspace` has attentionWorkspace(call, false) bytes; `table` is null
/// without a bias.
/// cudaErrorInvalidValue where checkAttention has an objection or a key lacks.
cudaError_t attentionForward(const AttentionCall &call, const void *q,
                             const void *k, const void *v, void *o, void *lse,
                             const void *table, const void *querySegments,
                             const void *keySegments, void *workspace,
                             cudaStream_t stream);

/// Writes dQ, dK, dV and, with a bias, dTable. `workspace` has
/// attentionWorkspace(call, true) bytes.
cudaError_t attentionBackward(const AttentionCall &call, const void *dO,
                              const void *q, const void *k, const void *v,
                              const void *o, const void *lse, void *dQ,
                              void *dK, void *dV, const void *table,
                              void *dTable, const void *querySegments,
                              const void *keySegments, void *workspace,
                              cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONKERNELS_H
