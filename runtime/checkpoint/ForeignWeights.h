//===- ForeignWeights.h - weights that are no safetensors -------*- C++ -*-===//
// Models are published in many formats, of which one is read. Each other one is
// told by its name or its first bytes, with the way to the one that is read.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_FOREIGNWEIGHTS_H
#define TESSERA_RUNTIME_CHECKPOINT_FOREIGNWEIGHTS_H

#include "runtime/support/File.h"

#include <string>

namespace tessera {

/// TSR_UNSUPPORTED if `file` is known to be in another format.
void refuseForeignWeights(const InputFile &file);

/// What a directory without safetensors holds instead, "'pytorch_model.bin',
/// which is ...; REMEDY", or "" if it holds no weights that are known.
std::string describeOtherWeights(const std::string &directory);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_FOREIGNWEIGHTS_H
