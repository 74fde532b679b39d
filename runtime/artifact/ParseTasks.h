//===- ParseTasks.h - the tasks of pipeline stages, from JSON ---*- C++ -*-===//
#ifndef TESSERA_RUNTIME_ARTIFACT_PARSETASKS_H
#define TESSERA_RUNTIME_ARTIFACT_PARSETASKS_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

/// Reads "tasks" and "order" of `pipeline`, if it has them, once the ops are
/// known.
void parseTasks(const JsonView &pipeline, Metadata &metadata);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_PARSETASKS_H
