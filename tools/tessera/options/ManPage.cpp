//===- ManPage.cpp - manual pages of the driver and its commands ----------===//

#include "tools/tessera/options/ExitStatus.h"
#include "tools/tessera/options/HelpFiles.h"
#include <algorithm>

using namespace tessera;

/// Text as roff prints it unchanged.
static std::string escape(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  bool isRequest = !text.empty() && (text[0] == '.' || text[0] == '\'');
  return isRequest ? "\\&" + result : result;
}

static std::string bold(const std::string &text) {
  return "\\fB" + escape(text) + "\\fR";
}

static std::string italic(const std::string &text) {
  return "\\fI" + escape(text) + "\\fR";
}

/// The names of an option with its value, or those of an argument.
static std::string heading(const OptionEntry &option) {
  std::string text;
  for (const std::string &name : option.names)
    text += (text.empty() ? "" : ", ") +
            (option.isArgument ? italic(name) : bold(name));
  if (!option.isArgument && option.kind != ValueKind::None)
    text += " " + italic(option.value);
  return option.isRepeated ? text + " ..." : text;
}

static std::string entry(const OptionEntry &option) {
  std::string text = ".TP\n" + heading(option) + "\n" + escape(option.what);
  text += ".\n";
  if (!option.standard.empty())
    text += "Default: " + escape(option.standard) + ".\n";
  if (option.isRequired)
    text += "Required.\n";
  return text;
}

static std::string section(const char *title, const CommandEntry &command,
                           bool isOfArguments) {
  std::string text, group;
  for (const OptionEntry &option : command.options) {
    if (option.isArgument != isOfArguments)
      continue;
    if (text.empty())
      text = std::string(".SH ") + title + "\n";
    else if (!isOfArguments && option.group != group)
      text += ".SS " + escape(option.group) + "\n";
    group = option.group;
    text += entry(option);
  }
  return text;
}

static std::string synopsis(const CommandEntry &command) {
  std::string text = bold("tessera");
  if (command.name.empty())
    return text + " " + italic("command") + " [" + italic("options") + "]\n";
  text += " " + bold(command.name);
  for (const OptionEntry &option : command.options)
    if (option.isArgument)
      text += " " + italic(option.names.front());
  for (const OptionEntry &option : command.options)
    if (!option.isArgument && option.isRequired)
      text += " " + heading(option);
  return text + " [" + italic("options") + "]\n";
}

static std::string pageName(const CommandEntry &command) {
  return command.name.empty() ? "tessera" : "tessera-" + command.name;
}

static std::string commandList(const std::vector<CommandEntry> &commands) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandEntry &command : commands)
    if (!command.name.empty())
      text += ".TP\n" + bold(command.name) + "\n" + escape(command.what) +
              ".\nSee " + bold(pageName(command)) + "(1).\n";
  return text;
}

static std::string others(const CommandEntry &command,
                          const std::vector<CommandEntry> &commands) {
  std::string text;
  for (const CommandEntry &other : commands)
    if (other.name != command.name)
      text += (text.empty() ? "" : ",\n") + bold(pageName(other)) + "(1)";
  return ".SH SEE ALSO\n" + text + "\n";
}

std::string tessera::manPage(const CommandEntry &command,
                             const std::vector<CommandEntry> &commands) {
  std::string name = pageName(command), title = name;
  std::transform(title.begin(), title.end(), title.begin(), ::toupper);
  std::string text = ".\\\" Written by tessera --help-files\n.TH " + title +
                     " 1 \"\" \"Tessera " TESSERA_VERSION
                     "\" \"Tessera Manual\"\n";
  text += ".SH NAME\n" + escape(name) + " \\- " + escape(command.what) + "\n";
  text += ".SH SYNOPSIS\n" + synopsis(command);
  if (command.name.empty())
    text += commandList(commands);
  text += section("ARGUMENTS", command, true);
  text += section("OPTIONS", command, false);
  text += ".SH EXIT STATUS\n" + escape(exitStatus(command.name)) + "\n";
  return text + others(command, commands);
}
