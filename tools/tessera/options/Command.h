//===- Command.h - a command, and the list of all ---------------*- C++ -*-===//
// A command is a file in tools/tessera/commands: its options, their
// declaration, their checks and what it does. It registers itself.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_COMMAND_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_COMMAND_H

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace tessera {

class Command {
public:
  virtual ~Command() = default;
  /// Declares its options: its own first, then the groups that it shares.
  virtual void declare(CLI::App &app) = 0;
  /// Refuses options that do not go together and completes those that follow
  /// from others. It opens no file but those that hold options.
  virtual void check(CLI::App &) {}
  /// Returns the exit code: 0, or 1 after an error has been printed. The parser
  /// exists no more.
  virtual int run() = 0;
};

struct CommandRow {
  int place; ///< In --help, which lists commands in this order.
  const char *name, *what;
  const char *example; ///< Words after "tessera NAME".
  /// Prints an error that ended the command, of which its --json has to tell;
  /// null: standard error alone tells.
  void (*printErrorAsJson)(const std::string &error) = nullptr;
};

struct RegisteredCommand : CommandRow {
  std::unique_ptr<Command> (*create)();
};

/// Returns all commands of this program, in the order of --help.
const std::vector<RegisteredCommand> &registeredCommands();

void registerCommand(const RegisteredCommand &command);

/// An object of this type registers a command before main begins.
template <typename T> struct CommandRegistration {
  explicit CommandRegistration(const CommandRow &row) {
    registerCommand({row, []() -> std::unique_ptr<Command> {
                       return std::make_unique<T>();
                     }});
  }
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_COMMAND_H
