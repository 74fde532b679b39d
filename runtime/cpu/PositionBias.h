//===- PositionBias.h - Attention's bias by distance ------------*- C++ -*-===//
// A head's bias depends on query - key alone, so it is a vector of seqQ + seqK
// - 1 numbers: queries, the lanes of a score vector, are neighbours in it. No
// heads x queries x keys tensor exists, forward or backward.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_POSITIONBIAS_H
#define TESSERA_RUNTIME_CPU_POSITIONBIAS_H

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cpu/Workspace.h"

namespace tessera {

/// Returns the bucket of a key `behind` positions before its query
/// (TSR_ATTENTION_BUCKETS).
int64_t positionBucket(const AttentionProblem &p, int64_t behind);

/// Fills `memory` with a vector per head and points p->bias to it. Nothing
/// without a table. Returns 0 or a tsr_status with *error set.
int32_t preparePositionBias(AttentionProblem *p, Workspace *memory,
                            std::string *error);
/// Points p->dBias to zeros, a vector per sequence and head, for backward.
int32_t preparePositionGradient(AttentionProblem *p, Workspace *memory,
                                std::string *error);
/// Adds those vectors by bucket, in order of distances, then sequences, to
/// p.dBiasTable, which it overwrites.
void finishPositionGradient(const AttentionProblem &p);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_POSITIONBIAS_H
