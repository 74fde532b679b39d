//===- CommandTable.cpp - the options as plain data -----------------------===//

#include "tools/tessera/options/CommandTable.h"
#include "tools/tessera/options/Declare.h"
#include <CLI/CLI.hpp>

using namespace tessera;

/// Returns the alternatives in "{f32,bf16}", "TEXT:{auto,text}" or "f32|bf16".
static std::vector<std::string> choicesIn(const std::string &value) {
  size_t open = value.find('{'), close = value.find('}');
  if (open != std::string::npos && close != std::string::npos)
    return CLI::detail::split(value.substr(open + 1, close - open - 1), ',');
  if (value.find('|') != std::string::npos)
    return CLI::detail::split(value, '|');
  return {};
}

static ValueKind kindOf(const CLI::Option &option, const OptionEntry &entry) {
  if (option.get_items_expected_max() == 0)
    return ValueKind::None;
  if (!entry.choices.empty())
    return ValueKind::Choice;
  for (const char *path : {"TEXT", "PATH", "FILE", "DIR"})
    if (entry.value.rfind(path, 0) == 0)
      return ValueKind::File;
  return ValueKind::Other;
}

static OptionEntry optionEntry(const CLI::Option &option) {
  OptionEntry entry;
  for (const std::string &name : option.get_snames())
    entry.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    entry.names.push_back("--" + name);
  entry.isArgument = entry.names.empty();
  if (entry.isArgument)
    entry.names.push_back(option.get_name(true));
  entry.group = option.get_group();
  entry.value = option.get_type_name();
  entry.standard = option.get_default_str();
  entry.what = option.get_description();
  entry.choices = choicesIn(entry.value);
  entry.kind = kindOf(option, entry);
  entry.isRequired = option.get_required();
  entry.isRepeated =
      option.get_items_expected_max() > 1 && option.get_delimiter() == '\0';
  return entry;
}

CommandEntry tessera::commandEntry(const CLI::App &app,
                                   const std::string &name) {
  CommandEntry command{name, app.get_description(), {}};
  for (const CLI::Option *option : app.get_options())
    if (!isHidden(*option))
      command.options.push_back(optionEntry(*option));
  return command;
}

std::vector<CommandEntry> tessera::commandTable(const CLI::App &app) {
  std::vector<CommandEntry> commands = {commandEntry(app, "")};
  for (const CLI::App *sub : app.get_subcommands({}))
    commands.push_back(commandEntry(*sub, sub->get_name()));
  return commands;
}
