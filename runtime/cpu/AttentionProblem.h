//===- AttentionProblem.h - The arguments of attention, decoded -*- C++ -*-===//
// What the entries hand to the kernels: plain numbers, checked once.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONPROBLEM_H
#define TESSERA_RUNTIME_CPU_ATTENTIONPROBLEM_H

#include <cstdint>
#include <string>

namespace tessera {

/// Which elements dropout keeps: philox(index, key) >= threshold.
struct Dropout {
  bool active;
  uint64_t threshold; /* p * 2^32, rounded up */
  double keepScale;   /* 1 / (1 - p); 1 without dropout */
  uint64_t key;
  int64_t batchStart, headStart, headsTotal, queryStart, queriesTotal;
  int64_t keyStart, keysTotal;
};

/// Sizes and strides in elements, as in TSR_ATTENTION_*. Buffers that a
/// direction does not have are null.
struct AttentionProblem {
  int64_t batch, heads, kvHeads, seqQ, seqK, headDim;
  int64_t rowQ, rowK, rowV, rowO, rowDQ, rowDK, rowDV, rowDO;
  bool causal;
  int64_t queryStart; /* position of query 0 among the keys; of a slice of
                         keys it may lie before them */
  bool slice;         /* o, d_q, d_k, d_v are sums over slices of keys */
  bool earlier;       /* o and lse, or d_q, hold earlier slices */
  bool earlierKeys;   /* d_k and d_v hold those of other queries */
  double scale;
  int64_t dtype;
  Dropout dropout;
  const void *q, *k, *v;
  void *o, *lse;
  const void *dO;
  void *dQ, *dK, *dV;
  /// Of the bias by distance; 0 and null without one.
  int64_t buckets, maxDistance;
  const void *biasTable;
  void *dBiasTable;
  /// Its vectors (PositionBias.h), `biasRow` apart: [head][distance] and
  /// [sequence][head][distance], in the type of lse.
  int64_t biasRow;
  const void *bias;
  void *dBias;

  /// Where the distance of a query and a key lies in a vector of biases.
  int64_t distanceAt(int64_t query, int64_t key) const {
    return query - key + seqK - 1;
  }
  /// Query heads that share a key/value head.
  int64_t group() const { return heads / kvHeads; }
  /// No query sees any key.
  bool isHidden() const { return causal && queryStart + seqQ <= 0; }
};

/// The unit of parallel work: one key/value head of one sequence, some of its
/// query blocks ("items": group x blocks, head-major) and, in backward, some of
/// its keys. What a unit computes does not depend on how work is cut into
/// units.
struct AttentionUnit {
  int64_t batch, kvHead;
  int64_t itemBegin, itemEnd;
  int64_t keyBegin, keyEnd;
  bool wantsQueries; /* write d_q of the items */
  bool wantsKeys;    /* write d_k, d_v of the keys */
};

/// Queries and keys are processed in squares of this many.
constexpr int64_t kAttentionBlock = 64;

/// Decodes and checks args; returns 0 or a tsr_status with *error set.
int32_t decodeAttention(const int64_t *args, AttentionProblem *out,
                        std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONPROBLEM_H
