//===- ForeignWeights.h - weights that are no safetensors -------*- C++ -*-===//
// Models are published in many formats, and only safetensors is read. Others
// are recognized by name or first bytes, and errors say how to convert them.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_FOREIGNWEIGHTS_H
#define TESSERA_RUNTIME_CHECKPOINT_FOREIGNWEIGHTS_H

#include "runtime/support/File.h"

#include <string>

namespace tessera {

/// Fails with TSR_UNSUPPORTED if `file` is known to be in another format.
void refuseForeignWeights(const InputFile &file);

/// Says what a directory without a safetensors model holds instead,
/// "'pytorch_model.bin', which is ...; REMEDY", or returns "" if it holds no
/// weights that are known.
std::string describeOtherWeights(const std::string &directory);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_FOREIGNWEIGHTS_H
