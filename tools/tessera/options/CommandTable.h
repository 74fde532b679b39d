//===- CommandTable.h - the options as plain data ---------------*- C++ -*-===//
// Manual pages and completions are made of this table, which is read from the
// parser, where each option is declared.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_COMMANDTABLE_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_COMMANDTABLE_H

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace tessera {

/// The kinds of words that follow an option on the command line.
enum class ValueKind {
  None,   ///< It is a switch.
  Choice, ///< One of `choices`.
  File,   ///< A path, or a text that nothing is known of.
  Other   ///< A number, a size, a mesh: nothing that can be completed.
};

struct OptionEntry {
  std::vector<std::string> names; ///< With dashes; of an argument its name.
  std::string group, value, standard, what;
  ValueKind kind = ValueKind::None;
  std::vector<std::string> choices;
  bool isArgument = false; ///< It has a place instead of dashes.
  bool isRequired = false;
  bool isRepeated = false; ///< It takes several values.
};

/// The driver itself is a command with the name "".
struct CommandEntry {
  std::string name, what;
  std::vector<OptionEntry> options;
};

/// Returns the options of a parser as those of the command `name`.
CommandEntry commandEntry(const CLI::App &app, const std::string &name);

/// The driver first, then its commands in the order of --help.
std::vector<CommandEntry> commandTable(const CLI::App &app);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_COMMANDTABLE_H
