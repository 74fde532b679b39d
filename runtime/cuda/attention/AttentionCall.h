//===- AttentionCall.h - One attention call on a GPU ------------*- C++ -*-===//
// What the entries hand to the kernels, free of CUDA's headers so that the
// checks are tested anywhere. Semantics: TSR_ATTENTION_* in tessera/abi.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONCALL_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONCALL_H

#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

/// Sizes and strides in elements. Element (b, s, n, d) of Q lies at
/// q[(b * seqQ + s) * rowQ + n * headDim + d]; the other tensors alike.
struct AttentionCall {
  int64_t batch, heads, kvHeads, seqQ, seqK, headDim;
  int64_t rowQ, rowK, rowV, rowO, rowDq, rowDk, rowDv, rowDo;
  bool causal;
  double scale;
  int64_t dtype; /* TSR_DTYPE_F32 or TSR_DTYPE_BF16 */
  double dropout;
  int64_t batchStart, headStart, headsTotal;
  int64_t queryStart, queriesTotal; /* the queries are a slice of these */
  int64_t buckets, maxDistance;     /* of a bias by distance; 0 without one */
  /// The keys are a slice of `keysTotal` from keyStart on; queryStart counts
  /// from there. Results are sums over slices, in f32; 0: they are no slice.
  int64_t keyStart, keysTotal;
  bool earlier, earlierKeys; /* o and lse, or dQ; dK and dV hold sums */
  const uint64_t *key; /* device memory, the dropout stream's key; null without
                          dropout */
};

/// Null, or why the call is not supported: a text without a full stop that
/// lives for ever. The strides of gradients are not looked at.
const char *checkAttention(const AttentionCall &call);

/// The same for what only forward asks for, and what only backward uses.
const char *checkAttentionSlice(const AttentionCall &call);
const char *checkAttentionGradients(const AttentionCall &call);

/// Bytes of device memory, 16-byte aligned, that hold nothing between calls.
size_t attentionWorkspace(const AttentionCall &call, bool backward);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONCALL_H
