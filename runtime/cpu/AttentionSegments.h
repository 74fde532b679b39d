//===- AttentionSegments.h - Attention within documents ---------*- C++ -*-===//
// Before a call computes, it finds where the segments of its queries and keys
// lie, and which squares have none in common.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONSEGMENTS_H
#define TESSERA_RUNTIME_CPU_ATTENTIONSEGMENTS_H

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cpu/Workspace.h"

namespace tessera {

/// Sets the segments of a problem; `buffers` are those of queries and of keys.
/// Without any it does nothing. Ranges live in `memory`.
int32_t prepareSegments(AttentionProblem *problem, void *const *buffers,
                        Workspace *memory, std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONSEGMENTS_H
