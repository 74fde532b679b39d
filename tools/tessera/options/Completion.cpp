//===- Completion.cpp - completions of bash, zsh and fish -----------------===//

#include "tools/tessera/options/HelpFiles.h"

using namespace tessera;

static std::string join(const std::vector<std::string> &words,
                        const char *between) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : between) + word;
  return text;
}

/// Puts a backslash before each of `marks`.
static std::string escape(const std::string &text, const std::string &marks) {
  std::string result;
  for (char c : text)
    result +=
        (marks.find(c) == std::string::npos ? "" : "\\") + std::string(1, c);
  return result;
}

static std::vector<std::string> optionNames(const CommandEntry &command) {
  std::vector<std::string> names;
  for (const OptionEntry &option : command.options)
    if (!option.isArgument)
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

static std::vector<std::string>
commandNames(const std::vector<CommandEntry> &commands) {
  std::vector<std::string> names;
  for (const CommandEntry &command : commands)
    if (!command.name.empty())
      names.push_back(command.name);
  return names;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

/// Sets `options`, and `values` if the word before takes some.
static std::string bashCase(const CommandEntry &command) {
  std::string text = "    " + command.name + ")\n      options='" +
                     join(optionNames(command), " ") +
                     "'\n      case $previous in\n";
  std::vector<std::string> files, others;
  for (const OptionEntry &option : command.options) {
    if (option.isArgument)
      continue;
    std::string pattern = join(option.names, "|");
    if (option.kind == ValueKind::Choice)
      text += "        " + pattern + ") values='" + join(option.choices, " ") +
              "' ;;\n";
    if (option.kind == ValueKind::File)
      files.push_back(pattern);
    if (option.kind == ValueKind::Other)
      others.push_back(pattern);
  }
  if (!files.empty())
    text += "        " + join(files, "|") + ") kind=file ;;\n";
  if (!others.empty())
    text += "        " + join(others, "|") + ") kind=other ;;\n";
  return text + "      esac ;;\n";
}

std::string tessera::bashCompletion(const std::vector<CommandEntry> &commands) {
  std::string text = R"(# Written by tessera --help-files
_tessera() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options= values= kind=
  COMPREPLY=()
  # bash takes --option=value for three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ')" +
                     join(commandNames(commands), " ") + " " +
                     join(optionNames(commands.front()), " ") +
                     R"(' -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
)";
  for (const CommandEntry &command : commands)
    if (!command.name.empty())
      text += bashCase(command);
  return text + R"(  esac
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [ "$kind" = other ]; then # no file
    compopt +o default 2>/dev/null
  elif [[ -z $kind && $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  fi
}
complete -o default -F _tessera tessera
)";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Text within [] and single quotes of an argument of _arguments.
static std::string zshText(const std::string &text) {
  std::string escaped = escape(text, "\\[]:");
  for (size_t at = escaped.find('\''); at != std::string::npos;
       at = escaped.find('\'', at + 4))
    escaped.replace(at, 1, "'\\''");
  return escaped;
}

static std::string zshValue(const OptionEntry &option) {
  switch (option.kind) {
  case ValueKind::None:
    return "";
  case ValueKind::Choice:
    return ":value:(" + join(option.choices, " ") + ")";
  case ValueKind::File:
    return ":file:_files";
  case ValueKind::Other:
    return ":" + zshText(option.value) + ": ";
  }
  return "";
}

/// A line of _arguments for each name.
static std::string zshOption(const OptionEntry &option) {
  if (option.isArgument)
    return "        '1:" + zshText(option.names.front()) + ":_files' \\\n";
  std::string text;
  for (const std::string &name : option.names) {
    bool takesEqual = option.kind != ValueKind::None && name[1] == '-';
    text += "        '" + std::string(option.isRepeated ? "*" : "") + name +
            (takesEqual ? "=" : "") + "[" + zshText(option.what) + "]" +
            zshValue(option) + "' \\\n";
  }
  return text;
}

std::string tessera::zshCompletion(const std::vector<CommandEntry> &commands) {
  std::string list, cases;
  for (const CommandEntry &command : commands) {
    if (command.name.empty())
      continue;
    list += "    '" + command.name + ":" + zshText(command.what) + "'\n";
    cases += "    " + command.name + ")\n      _arguments \\\n";
    bool takesMore = false;
    for (const OptionEntry &option : command.options) {
      cases += zshOption(option);
      takesMore |= option.isRepeated && option.kind == ValueKind::File;
    }
    // Words after the first value of such an option.
    cases += std::string(takesMore ? "        '*:file:_files' \\\n" : "") +
             "        && return 0 ;;\n";
  }
  return "#compdef tessera\n# Written by tessera --help-files\n_tessera() {\n"
         "  local -a commands=(\n" +
         list +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe -t commands command commands\n"
         "    compadd -- " +
         join(optionNames(commands.front()), " ") +
         "\n    return\n  fi\n"
         "  local name=$words[2]\n"
         "  shift words\n  (( CURRENT-- ))\n"
         "  case $name in\n" +
         cases +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _tessera ]]; then _tessera; fi\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

static std::string fishText(const std::string &text) {
  return "'" + escape(text, "\\'") + "'";
}

static std::string fishValue(const OptionEntry &option) {
  switch (option.kind) {
  case ValueKind::None:
    return "";
  case ValueKind::Choice:
    return " -x -a " + fishText(join(option.choices, " "));
  case ValueKind::File:
    return " -r -F";
  case ValueKind::Other:
    return " -x";
  }
  return "";
}

static std::string fishOption(const OptionEntry &option,
                              const std::string &condition) {
  std::string text = "complete -c tessera -n " + fishText(condition);
  for (const std::string &name : option.names)
    text += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return text + fishValue(option) + " -d " + fishText(option.what) + "\n";
}

std::string tessera::fishCompletion(const std::vector<CommandEntry> &commands) {
  std::string text = "# Written by tessera --help-files\n";
  for (const CommandEntry &command : commands) {
    std::string condition = "__fish_use_subcommand";
    if (!command.name.empty()) {
      text += "complete -c tessera -n " + fishText(condition) + " -f -a " +
              command.name + " -d " + fishText(command.what) + "\n";
      condition = "__fish_seen_subcommand_from " + command.name;
    }
    for (const OptionEntry &option : command.options)
      if (!option.isArgument)
        text += fishOption(option, condition);
  }
  return text;
}
