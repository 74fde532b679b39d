//===- AttentionSizes.h - an attention call of a test -----------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_ATTENTIONSIZES_H
#define TESSERA_TEST_RUNTIME_CUDA_ATTENTIONSIZES_H

#include "tessera/abi.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace gpu {

struct AttentionSizes {
  int64_t batch, heads, kvHeads, seqQ, seqK, headDim;
  bool causal;
  double dropout;
  int64_t dtype = TSR_DTYPE_F32;
  int64_t queryStart = 0;

  int64_t queryElements() const { return batch * seqQ * heads * headDim; }
  int64_t keyElements() const { return batch * seqK * kvHeads * headDim; }
  int64_t statistics() const { return batch * heads * seqQ; }
};

inline int64_t bitsOf(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Contiguous rows, a part of a larger tensor; no slice, no biases.
inline std::vector<int64_t> argsOf(const AttentionSizes &s, int64_t seed,
                                   int64_t step) {
  std::vector<int64_t> args(TSR_ATTENTION_ARGS);
  int64_t q = s.heads * s.headDim, kv = s.kvHeads * s.headDim;
  args[TSR_ATTENTION_BATCH] = s.batch;
  args[TSR_ATTENTION_HEADS] = s.heads;
  args[TSR_ATTENTION_KV_HEADS] = s.kvHeads;
  args[TSR_ATTENTION_SEQ_Q] = s.seqQ;
  args[TSR_ATTENTION_SEQ_K] = s.seqK;
  args[TSR_ATTENTION_HEAD_DIM] = s.headDim;
  for (int row : {TSR_ATTENTION_ROW_Q, TSR_ATTENTION_ROW_O,
                  TSR_ATTENTION_ROW_DQ, TSR_ATTENTION_ROW_DO})
    args[row] = q;
  for (int row : {TSR_ATTENTION_ROW_K, TSR_ATTENTION_ROW_V,
                  TSR_ATTENTION_ROW_DK, TSR_ATTENTION_ROW_DV})
    args[row] = kv;
  args[TSR_ATTENTION_CAUSAL] = s.causal;
  args[TSR_ATTENTION_SCALE_BITS] = bitsOf(1 / std::sqrt(double(s.headDim)));
  args[TSR_ATTENTION_DTYPE] = s.dtype;
  args[TSR_ATTENTION_DROPOUT_BITS] = bitsOf(s.dropout);
  args[TSR_ATTENTION_SEED] = seed;
  args[TSR_ATTENTION_STEP] = step;
  args[TSR_ATTENTION_STREAM] = 3;
  args[TSR_ATTENTION_BATCH_START] = 1;
  args[TSR_ATTENTION_HEAD_START] = 2;
  args[TSR_ATTENTION_HEADS_TOTAL] = s.heads + 4;
  args[TSR_ATTENTION_QUERY_START] = s.queryStart;
  args[TSR_ATTENTION_QUERIES_TOTAL] = s.queryStart + s.seqQ;
  return args;
}

} // namespace gpu

#endif // TESSERA_TEST_RUNTIME_CUDA_ATTENTIONSIZES_H
