//===- LaunchOptions.h - whether a run is one process or several ----------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHOPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHOPTIONS_H

#include "tools/tessera/options/Options.h"
#include <CLI/CLI.hpp>

namespace tessera {

/// Declares --communicator, --rendezvous and the time-outs.
void addLaunchOptions(CLI::App *sub, DriverOptions &options,
                      std::string &rendezvous, const CLI::Validator &positive);

/// Sets `options.launch` from the environment for a command that runs ranks;
/// `rendezvous` overrides its address. Returns what does not go together, or
/// "".
std::string chooseLaunch(DriverOptions &options, const std::string &rendezvous);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_LAUNCHOPTIONS_H
