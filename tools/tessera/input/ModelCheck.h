//===- ModelCheck.h - are weights of this model? ----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H
#define TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H

#include "tools/tessera/options/OptionGroups.h"

namespace tessera {

/// Returns whether the config.json beside weights, a file or its folder, is of
/// the model that an artifact's `metadata` describes: shapes alone do not tell
/// two heads from four. The runtime checks checkpoints. If not, prints an error
/// that names a key and both values; prints a note if the config cannot be
/// read.
bool checkConfigBeside(const PlannedModel &options, const char *metadata,
                       const std::string &weights);

/// Compares the adapter of a checkpoint with the folder of the model to merge
/// it with in the same way.
bool checkAdapterModel(const std::string &model, const std::string &adapter);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H
