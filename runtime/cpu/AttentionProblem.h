//===- AttentionProblem.h - The arguments of attention, decoded -*- C++ -*-===//
// Plain numbers that the entries check once and hand to the kernels.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONPROBLEM_H
#define TESSERA_RUNTIME_CPU_ATTENTIONPROBLEM_H

#include "runtime/cpu/AttentionArguments.h"

#include <string>

namespace tessera {

/// Queries and keys are processed in squares of this many.
constexpr int64_t kAttentionBlock = 64;

/// Dropout keeps the elements with philox(index, key) >= threshold.
struct DropoutRule {
  bool active;
  uint64_t threshold; /* p * 2^32, rounded up */
  double keepScale;   /* 1 / (1 - p); 1 without dropout */
  uint64_t key;
};

/// The segments of a block of queries or keys; of padding alone none.
struct SegmentRange {
  int32_t low, high;
  bool hasPadding;

  bool meets(const SegmentRange &other) const {
    return low <= other.high && other.low <= high;
  }
  /// Returns whether all are of the same segment.
  bool isOneWith(const SegmentRange &other) const {
    return low == high && other.low == low && other.high == low &&
           !hasPadding && !other.hasPadding;
  }
};

/// A call with what follows from its arguments, and its buffers. Those that a
/// direction does not have are null. A window that hides no key is 0.
struct AttentionProblem : AttentionArguments {
  DropoutRule dropoutRule;
  const void *q, *k, *v;
  void *o, *lse;
  const void *dO;
  void *dQ, *dK, *dV;
  /// The table of a bias by distance and its gradient; null without one.
  const void *biasTable;
  void *dBiasTable;
  /// The bias and its gradient as vectors (PositionBias.h), `biasRow` apart:
  /// [head][distance] and [sequence][head][distance], in the type of lse.
  int64_t biasRow;
  const void *bias;
  void *dBias;
  /// Segments [batch, row], and of blocks (AttentionSegments.h);
  /// null without them.
  const int32_t *querySegments, *keySegments;
  int64_t querySegmentRow, keySegmentRow;
  const SegmentRange *queryRanges, *keyRanges;

  /// Returns whether a query may see no key of its blocks.
  bool mayHideRows() const { return window != 0 || segments; }

  /// Returns where the distance of a query and a key lies in a vector of
  /// biases.
  int64_t distanceAt(int64_t query, int64_t key) const {
    return query - key + seqK - 1;
  }
};

/// Returns the problem of checked arguments, without buffers.
AttentionProblem attentionProblem(const AttentionArguments &arguments);

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

/// Decodes and checks args; returns 0 or a tsr_status with *error set.
int32_t decodeAttention(const int64_t *args, AttentionProblem *out,
                        std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONPROBLEM_H
