//===- HelpFiles.h - manual pages and completions ---------------*- C++ -*-===//
// The files that an installation has under share: the build makes them with
// `tessera --help-files DIR`.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_HELPFILES_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_HELPFILES_H

#include "tools/tessera/options/CommandTable.h"

namespace tessera {

/// Writes man/man1/*.1 and the completions of bash, zsh and fish below
/// `directory`, each where the program that reads it looks below share. Returns
/// why that failed, or "".
std::string writeHelpFiles(const std::string &directory,
                           const std::vector<CommandEntry> &commands);

/// Returns a page of man(7): of a command, or of the driver, which names all
/// commands.
std::string manPage(const CommandEntry &command,
                    const std::vector<CommandEntry> &commands);

std::string bashCompletion(const std::vector<CommandEntry> &commands);
std::string zshCompletion(const std::vector<CommandEntry> &commands);
std::string fishCompletion(const std::vector<CommandEntry> &commands);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_HELPFILES_H
