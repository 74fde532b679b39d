//===- Command.cpp - the list of all commands -----------------------------===//

#include "tools/tessera/options/Command.h"
#include <algorithm>

using namespace tessera;

/// The list exists before the first command registers itself.
static std::vector<RegisteredCommand> &commandList() {
  static std::vector<RegisteredCommand> list;
  return list;
}

const std::vector<RegisteredCommand> &tessera::registeredCommands() {
  return commandList();
}

void tessera::registerCommand(const RegisteredCommand &command) {
  std::vector<RegisteredCommand> &list = commandList();
  auto after = std::upper_bound(list.begin(), list.end(), command,
                                [](const CommandRow &a, const CommandRow &b) {
                                  return a.place < b.place;
                                });
  list.insert(after, command);
}
