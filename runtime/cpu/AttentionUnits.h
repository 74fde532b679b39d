//===- AttentionUnits.h - Cuts attention into parallel units ----*- C++ -*-===//
// If there are fewer key/value heads than threads, a head is cut further, so
// that no thread is idle. The cut never changes a bit of the result.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONUNITS_H
#define TESSERA_RUNTIME_CPU_ATTENTIONUNITS_H

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cpu/Workspace.h"

namespace tessera {

/// Units are computed from their index; none are stored.
class AttentionUnits {
public:
  /// A unit is a (batch, kv head, chunk of query blocks).
  static AttentionUnits forward(const AttentionProblem &p, int threads);
  /// A unit is a (batch, kv head); if there are few heads, it is a chunk of
  /// keys (d_k, d_v), then a chunk of query blocks (d_q), which costs 7
  /// products per square instead of 5.
  static AttentionUnits backward(const AttentionProblem &p, int threads);

  int64_t count() const { return heads * (queryChunks + keyChunks); }
  AttentionUnit at(int64_t index) const;

private:
  int64_t heads; /* batch * kvHeads */
  int64_t kvHeads;
  int64_t items; /* group * query blocks */
  int64_t keys;
  int64_t queryChunks; /* chunks of items per head */
  int64_t keyChunks;   /* chunks of keys per head; 0: d_k, d_v in whole heads */
  bool causal, backwards;
  int64_t queryStart;
};

/// The function that runs on each unit, and the scratch that it needs.
struct AttentionRunner {
  size_t (*scratchBytes)(const AttentionProblem &, int64_t keys);
  void (*run)(const AttentionProblem &, const AttentionUnit &, void *scratch);
  Workspace *workspace;
  int threads;
};

/// Runs all units; returns 0 or a tsr_status with *error set.
int32_t runAttentionUnits(const AttentionProblem &p,
                          const AttentionUnits &units,
                          const AttentionRunner &runner, std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONUNITS_H
