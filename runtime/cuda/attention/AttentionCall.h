//===- AttentionCall.h - One attention call on a GPU ------------*- C++ -*-===//
// The entries hand these calls to the kernels. They are free of CUDA's headers
// so that the checks are tested anywhere. Semantics: TSR_ATTENTION_* in
// tessera/abi.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONCALL_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONCALL_H

#include "runtime/cpu/AttentionArguments.h"

#include <cstddef>

namespace tessera::cuda {

/// Element (b, s, n, d) of Q lies at q[(b * seqQ + s) * rowQ + n * headDim +
/// d]; the other tensors alike.
struct AttentionCall : AttentionArguments {
  /// In device memory, the key of the dropout's stream. Null without dropout,
  /// and as long as the address is not known.
  const uint64_t *key;

  bool lacksKey() const { return dropout > 0 && !key; }
};

/// Returns null, or why the call is not supported: a text without a full stop
/// that lives for ever. The strides of gradients and the key are not looked at.
const char *checkAttention(const AttentionCall &call);

/// Check what only forward asks for, and what only backward uses, likewise.
const char *checkAttentionSlice(const AttentionCall &call);
const char *checkAttentionGradients(const AttentionCall &call);

/// Bytes of device memory, 16-byte aligned, that hold nothing between calls.
size_t attentionWorkspace(const AttentionCall &call, bool backward);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONCALL_H
