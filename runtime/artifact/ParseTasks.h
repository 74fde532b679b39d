//===- ParseTasks.h - the tasks of pipeline stages, from JSON ---*- C++ -*-===//
#ifndef TESSERA_RUNTIME_ARTIFACT_PARSETASKS_H
#define TESSERA_RUNTIME_ARTIFACT_PARSETASKS_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

/// Reads "tasks" and "order" of a program, if it has them, once its ops are
/// known, the first of which is number `firstOp` of all.
void parseTasks(const JsonView &program, size_t firstOp, Metadata &metadata);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_PARSETASKS_H
