//===- StrategyFlags.h - do the strategies fit the mesh? --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_STRATEGYFLAGS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_STRATEGYFLAGS_H

#include "tools/tessera/options/Mesh.h"
#include "tools/tessera/options/Options.h"
#include <CLI/CLI.hpp>

namespace tessera {

/// Adds how work and state are split over the axes of the mesh.
std::vector<CLI::Option *> addStrategies(CLI::App *sub, DriverOptions &options);

/// Why --sequence-parallel, --zero, --context-parallel or --ranks do not fit
/// the mesh, with the remedy; "" if they do.
std::string checkStrategies(const DriverOptions &options, const Mesh &mesh);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_STRATEGYFLAGS_H
