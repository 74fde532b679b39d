//===- CommandLine.h - the command line of every command --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_COMMANDLINE_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_COMMANDLINE_H

#include "tools/tessera/options/Command.h"

namespace tessera {

struct ParsedCommand {
  /// The command that is to run, with its options; null after help or an error,
  /// which are printed.
  std::unique_ptr<Command> command;
  int exitCode = 0;
  std::string error; ///< Without "error: ".
};

/// Parses the words for the commands that are registered, and checks what the
/// chosen one is given.
ParsedCommand parseCommandLine(int argc, char **argv);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_COMMANDLINE_H
