//===- CheckTensors.h - do the tensors of an artifact fit together? -------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_CHECKTENSORS_H
#define TESSERA_RUNTIME_ARTIFACT_CHECKTENSORS_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

/// Refuses `view`, the list of tensors, if a tensor of `metadata` contradicts
/// another one or the sizes of the model.
void checkTensors(const JsonView &view, const Metadata &metadata);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_CHECKTENSORS_H
