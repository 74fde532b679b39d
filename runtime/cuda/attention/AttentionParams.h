//===- AttentionParams.h - What a kernel gets -------------------*- C++ -*-===//
// An AttentionCall with its buffers, reduced to what kernels compute with. One
// struct for all kernels; it travels as a kernel parameter.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONPARAMS_H
#define TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONPARAMS_H

#include "runtime/cuda/HostDevice.h"
#include "runtime/cuda/attention/AttentionCall.h"
#include "runtime/cuda/attention/DistanceBias.h"

namespace tessera::cuda {

/// Exponentials are powers of 2.
constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;

/// Rows of a tensor [batch, seq, heads, headDim]; strides in elements.
struct TensorRows {
  void *data;
  int64_t row;

  template <typename T>
  TSR_HOST_DEVICE T *at(int64_t position, int64_t column) const {
    return static_cast<T *>(data) + position * row + column;
  }
};

/// Features that a call has besides plain attention: kernels without them pay
/// nothing for them. Masked: with segments.
enum class Form { Plain, Biased, Slice, Masked, MaskedBiased, MaskedSlice };

TSR_HOST_DEVICE constexpr bool hasBias(Form form) {
  return form == Form::Biased || form == Form::MaskedBiased;
}
TSR_HOST_DEVICE constexpr bool isSlice(Form form) {
  return form == Form::Slice || form == Form::MaskedSlice;
}
TSR_HOST_DEVICE constexpr bool isMasked(Form form) {
  return form == Form::Masked || form == Form::MaskedBiased ||
         form == Form::MaskedSlice;
}

struct AttentionParams {
  TensorRows q, k, v, o, dO, dQ, dK, dV;
  float *lse, *delta;
  const uint64_t *key;
  /// The segments from the call's first query and key on, [batch, row]; null
  /// without segments.
  const int32_t *querySegments, *keySegments;
  int64_t querySegmentRow, keySegmentRow;
  /// For dropout: the index of the call's first score among all, scores of a
  /// head of all, heads of all, keys of all. Indices wrap as the CPU's do.
  uint64_t firstScore, headScores;
  int64_t headsTotal, keysTotal;
  int batch, heads, kvHeads, seqQ, seqK, headDim;
  int queryStart;         /* counted from key 0: AttentionCall::firstQuery() */
  int window;             /* 0 where it hides no key */
  float scale, scaleLog2; /* scaleLog2: scale * log2(e), for 2^x */
  float keepScale;        /* 1 / (1 - p); 1 without dropout */
  uint32_t lastDropped;   /* words up to this one are dropped */
  bool causal, dropout;
  bool slice, earlier, earlierKeys; /* see AttentionCall */
  bool aligned; /* all rows and heads start at multiples of 16 bytes */
  DistanceBias bias;

  TSR_HOST_DEVICE int group() const { return heads / kvHeads; }
  /// Row of position s of sequence b in q, o, dO, dQ; in k, v, dK, dV.
  TSR_HOST_DEVICE int64_t queryRow(int b, int s) const {
    return int64_t(b) * seqQ + s;
  }
  TSR_HOST_DEVICE int64_t keyRow(int b, int s) const {
    return int64_t(b) * seqK + s;
  }
  TSR_HOST_DEVICE const int32_t *querySegmentsOf(int b) const {
    return querySegments + b * querySegmentRow;
  }
  TSR_HOST_DEVICE const int32_t *keySegmentsOf(int b) const {
    return keySegments + b * keySegmentRow;
  }
  /// Bias of (query, key), times log2(e). Its neighbours are those of the next
  /// query and of the key before.
  TSR_HOST_DEVICE const float *biasAt(int head, int query, int key) const {
    return bias.byDistance + int64_t(head) * bias.row +
           (query - key + seqK - 1 + kBiasMargin);
  }
  /// Returns the index of query s in lse and delta.
  TSR_HOST_DEVICE int64_t statistic(int b, int head, int s) const {
    return (int64_t(b) * heads + head) * seqQ + s;
  }
};

/// The buffers of a call; those that a direction does not have are null.
struct AttentionBuffers {
  const void *q, *k, *v;
  const void *o, *lse, *dO; /* forward writes o and lse */
  void *dQ, *dK, *dV;
  void *workspace;
  const void *table; /* with biases */
  void *dTable;
  const void *querySegments,
      *keySegments; /* with segments, as they are given */
};

/// Requires checkAttention(call) to be null.
AttentionParams makeParams(const AttentionCall &call,
                           const AttentionBuffers &buffers);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ATTENTION_ATTENTIONPARAMS_H
