//===- ModelCheck.h - are weights of this model? ----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H
#define TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H

#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// Whether the config.json beside weights, a file or its folder, is of the
/// model that an artifact's `metadata` describes: shapes alone do not tell two
/// heads from four. Checkpoints are left to the runtime. Prints an error that
/// names a key and both values; a note if the config cannot be read.
bool checkConfigBeside(const DriverOptions &options, const char *metadata,
                       const std::string &weights);

/// The same of an adapter of a checkpoint and the folder of the model to merge
/// it with.
bool checkAdapterModel(const DriverOptions &options, const std::string &model,
                       const std::string &adapter);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_MODELCHECK_H
