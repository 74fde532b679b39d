//===- PipelineFlags.h - the command line of pipeline parallelism ---------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_PIPELINEFLAGS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_PIPELINEFLAGS_H

#include "tools/tessera/options/Mesh.h"
#include "tools/tessera/options/Options.h"
#include <CLI/CLI.hpp>

namespace tessera {

/// Declares --schedule, --virtual-stages and --stages.
std::vector<CLI::Option *> addPipelineOptions(CLI::App *sub,
                                              DriverOptions &options);

/// Chooses the schedule where none is given. Why the options do not fit the
/// mesh, with the remedy; "" if they do. `given`: the name of one that is
/// there, or "".
std::string checkPipeline(DriverOptions &options, const Mesh &mesh,
                          const std::string &given);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_PIPELINEFLAGS_H
