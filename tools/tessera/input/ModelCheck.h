//===- ModelCheck.h - are weights of this model? ----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H
#define TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H

#include "tools/tessera/input/ModelFiles.h"

namespace tessera {

/// Returns an error if the config.json beside weights, a file or its folder, is
/// of another model than an artifact's `metadata` describes: shapes alone do
/// not tell two heads from four. It names a key and both values. The runtime
/// checks checkpoints. If the config cannot be read, a note says so.
llvm::Error checkConfigBeside(const PlannedModel &options, const char *metadata,
                              const std::string &weights);

/// Returns the weights that are named or lie beside the model, checked so.
llvm::Expected<std::string> checkedWeights(const PlannedModel &options,
                                           const NamedWeights &named,
                                           const char *metadata);

/// Compares the adapter of a checkpoint with the folder of the model to merge
/// it with in the same way.
llvm::Error checkAdapterModel(const std::string &model,
                              const std::string &adapter);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H
