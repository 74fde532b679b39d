//===- HelpText.cpp - how help is printed ---------------------------------===//

#include "tools/tessera/options/HelpText.h"
#include "tessera/Text/TextWrap.h"
#include "tools/tessera/options/Declare.h"
#include "tools/tessera/options/ExitStatus.h"
#include <algorithm>
#include <map>
#include <sstream>

using namespace tessera;

namespace {

/// The column in which descriptions begin.
constexpr size_t kColumn = 28;

//===----------------------------------------------------------------------===//
// One option
//===----------------------------------------------------------------------===//

/// "-o,--output"; "--[no-]overlap" of a switch that can be turned off.
std::string nameOf(const CLI::Option &option) {
  if (option.get_positional())
    return option.get_name(true);
  const std::vector<std::string> &names = option.get_lnames();
  if (names.size() == 2 && names.back() == "no-" + names.front())
    return "--[no-]" + names.front();
  std::string text;
  for (const std::string &name : option.get_snames())
    text += (text.empty() ? "-" : ",-") + name;
  for (const std::string &name : names)
    text += (text.empty() ? "--" : ",--") + name;
  return text;
}

/// Returns the words behind the name: "FILE", "[DIR]", "FILE ..."; "" of a
/// switch.
std::string valueOf(const CLI::Option &option) {
  if (option.get_expected_max() == 0)
    return "";
  std::string value = option.get_type_name();
  if (option.get_expected_min() == 0)
    value = "[" + value + "]";
  bool isList = option.get_expected_max() > 1 && option.get_delimiter() == '\0';
  return isList ? value + " ..." : value;
}

/// Says what it does, whether it must be given, and what it is if it is not.
std::string describe(const CLI::Option &option) {
  std::string text = option.get_description();
  std::string standard = option.get_default_str();
  if (option.get_required())
    return text + " (required)";
  if (!standard.empty() && text.find("(default") == std::string::npos)
    return text + " (default: " + standard + ")";
  return text;
}

/// Writes two columns; a long name has a line of its own.
std::string row(const std::string &name, const std::string &what) {
  std::string text = "  " + name;
  if (text.size() + 2 > kColumn)
    text = wrapBlock(text, kTerminalWidth, 4).insert(0, 2, ' ') + "\n" +
           std::string(kColumn, ' ');
  else
    text.resize(kColumn, ' ');
  return text + wrapBlock(what, kTerminalWidth, kColumn) + "\n";
}

std::string row(const CLI::Option &option) {
  std::string value = valueOf(option);
  return row(nameOf(option) + (value.empty() ? "" : " " + value),
             describe(option));
}

//===----------------------------------------------------------------------===//
// Parts of help
//===----------------------------------------------------------------------===//

std::string usage(const CLI::App &app) {
  std::string text = "Usage: tessera";
  if (app.get_parent())
    text += " " + app.get_name();
  else
    text += " COMMAND";
  for (const CLI::Option *option : app.get_options())
    if (option->get_positional())
      text += " " + option->get_name(true);
  for (const CLI::Option *option : app.get_options())
    if (option->nonpositional() && option->get_required())
      text += " " + nameOf(*option) + " " + valueOf(*option);
  return wrapText(text + " [OPTION ...]", kTerminalWidth, 7) + "\n";
}

std::string commands(const CLI::App &app) {
  std::string text;
  for (const CLI::App *sub : app.get_subcommands({}))
    text += row(sub->get_name(), sub->get_description());
  return text.empty() ? "" : "\nCommands:\n" + text;
}

/// Groups in the order in which options were declared, help last.
std::vector<std::string> groupsOf(const CLI::App &app) {
  std::vector<std::string> groups;
  for (const CLI::Option *option : app.get_options()) {
    const std::string &group = option->get_group();
    if (option->nonpositional() && option != app.get_help_ptr() &&
        !isHidden(*option) &&
        std::find(groups.begin(), groups.end(), group) == groups.end())
      groups.push_back(group);
  }
  return groups;
}

std::string group(const CLI::App &app, const std::string &title,
                  const std::string &example) {
  std::string text = "\n" + title + ":\n";
  if (!example.empty())
    text += "  e.g. " + wrapBlock(example, kTerminalWidth, 7) + "\n";
  for (const CLI::Option *option : app.get_options())
    if (option->nonpositional() && option->get_group() == title &&
        option != app.get_help_ptr())
      text += row(*option);
  return text;
}

} // namespace

/// Returns whether a command shows all options of an example.
static bool hasOptions(const CLI::App &app, const std::string &example) {
  std::istringstream words(example);
  std::string word;
  while (words >> word)
    if (word.rfind("-", 0) == 0) {
      const CLI::Option *option =
          app.get_option_no_throw(word.substr(0, word.find('=')));
      if (!option || isHidden(*option))
        return false;
    }
  return true;
}

std::string HelpFormatter::exampleOf(const CLI::App &app,
                                     const std::string &group) const {
  for (const Example &example : examples)
    if (example.app == &app && example.group == group &&
        hasOptions(app, example.text))
      return example.text;
  return "";
}

std::string HelpFormatter::make_help(const CLI::App *app, std::string,
                                     CLI::AppFormatMode) const {
  std::string text = wrapText(app->get_description(), kTerminalWidth, 0) +
                     "\n\n" + usage(*app);
  if (!app->get_footer().empty())
    text +=
        "Example: " + wrapBlock(app->get_footer(), kTerminalWidth, 9) + "\n";
  text += commands(*app);
  std::string positionals;
  for (const CLI::Option *option : app->get_options())
    if (option->get_positional())
      positionals += row(option->get_name(true), option->get_description());
  text += positionals.empty() ? "" : "\n" + positionals;
  for (const std::string &title : groupsOf(*app))
    text += group(*app, title, exampleOf(*app, title));
  text += "\n" + row("-h,--help", "Print this text");
  if (!app->get_parent())
    text += "\n" +
            wrapText("'tessera COMMAND --help' tells the options of a "
                     "command.",
                     kTerminalWidth, 0) +
            "\n";
  else
    text += "\n" +
            wrapText("Exit code: " + exitStatus(app->get_name()),
                     kTerminalWidth, 0) +
            "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// docs/reference/options.md
//===----------------------------------------------------------------------===//

namespace {

/// An option and the commands that have it.
struct Row {
  std::string name, values, what, commands;
};

struct Section {
  std::string title;
  std::vector<Row> rows;
  std::map<std::string, size_t> examples; ///< With the number of options.

  /// Returns the example of most options, the longest of several.
  std::string example() const {
    std::pair<size_t, std::string> best;
    for (const auto &[text, count] : examples)
      if (std::pair(count, text.size()) >
          std::pair(best.first, best.second.size()))
        best = {count, text};
    return best.second;
  }
};

/// A vertical bar would end the cell.
std::string cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos;
       bar = text.find('|', bar + 2))
    text.insert(bar, "\\");
  return text;
}

void add(Section &section, const CLI::Option &option,
         const std::string &command) {
  std::string name = nameOf(option), what = describe(option);
  for (Row &row : section.rows)
    if (row.name == name && row.what == what) {
      row.commands += ", " + command;
      return;
    }
  section.rows.push_back({name, valueOf(option), what, command});
}

Section &sectionOf(std::vector<Section> &sections, const std::string &title) {
  auto section =
      std::find_if(sections.begin(), sections.end(),
                   [&](const Section &s) { return s.title == title; });
  if (section == sections.end())
    section = sections.insert(sections.end(), {title, {}, {}});
  return *section;
}

/// Commands that all rows have stand above the table.
std::string table(const Section &section) {
  const std::string &commands = section.rows.front().commands;
  bool isUniform =
      std::all_of(section.rows.begin(), section.rows.end(),
                  [&](const Row &row) { return row.commands == commands; });
  std::string text = "\n## " + section.title + "\n\n";
  if (isUniform)
    text += "Commands: " + commands + ".\n\n";
  if (std::string example = section.example(); !example.empty())
    text += "Example: `" + example + "`\n\n";
  text += "| option | value | what it does |";
  text += isUniform ? "\n|---|---|---|\n" : " commands |\n|---|---|---|---|\n";
  for (const Row &row : section.rows)
    text += "| `" + row.name + "` | " + cell(row.values) + " | " +
            cell(row.what) + " |" +
            (isUniform ? "" : " " + row.commands + " |") + "\n";
  return text;
}

} // namespace

std::string tessera::helpAsMarkdown(const CLI::App &app,
                                    const HelpFormatter &formatter) {
  std::vector<Section> sections;
  std::string text = "\n# Options of `tessera`\n\n| command | what it does |\n"
                     "|---|---|\n";
  for (const CLI::App *sub : app.get_subcommands({})) {
    text += "| `" + sub->get_name() + "` | " + sub->get_description() + " |\n";
    for (const CLI::Option *option : sub->get_options()) {
      if (!option->nonpositional() || option == sub->get_help_ptr() ||
          isHidden(*option))
        continue;
      Section &section = sectionOf(sections, option->get_group());
      add(section, *option, sub->get_name());
      ++section.examples[formatter.exampleOf(*sub, section.title)];
    }
  }
  // Output comes last, though all commands print.
  std::stable_partition(sections.begin(), sections.end(),
                        [](const Section &s) { return s.title != "Output"; });
  for (const Section &section : sections)
    text += table(section);
  return text;
}
