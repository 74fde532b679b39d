//===- HelpText.cpp - how help is printed ---------------------------------===//

#include "tools/tessera/options/HelpText.h"
#include <algorithm>

using namespace tessera;

std::string HelpFormatter::make_option_name(const CLI::Option *option,
                                            bool isPositional) const {
  std::string name = CLI::Formatter::make_option_name(option, isPositional);
  for (size_t open = name.find('{'); open != std::string::npos;
       open = name.find('{'))
    name.erase(open, name.find('}', open) - open + 1);
  return name;
}

namespace {

/// An option and the commands that have it.
struct Row {
  std::string name, values, standard, what, commands;
};

struct Section {
  std::string title;
  std::vector<Row> rows;
};

/// A vertical bar would end the cell.
std::string cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos;
       bar = text.find('|', bar + 2))
    text.insert(bar, "\\");
  return text;
}

void add(std::vector<Section> &sections, const CLI::Option &option,
         const std::string &name, const std::string &command) {
  auto section =
      std::find_if(sections.begin(), sections.end(), [&](const Section &s) {
        return s.title == option.get_group();
      });
  if (section == sections.end())
    section = sections.insert(sections.end(), {option.get_group(), {}});
  for (Row &row : section->rows)
    if (row.name == name && row.what == option.get_description()) {
      row.commands += ", " + command;
      return;
    }
  section->rows.push_back({name, option.get_type_name(),
                           option.get_default_str(), option.get_description(),
                           command});
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
  text += "| option | value | default | what it does |";
  text += isUniform ? "\n|---|---|---|---|\n"
                    : " commands |\n|---|---|---|---|---|\n";
  for (const Row &row : section.rows)
    text += "| `" + row.name + "` | " + cell(row.values) + " | " +
            cell(row.standard) + " | " + cell(row.what) + " |" +
            (isUniform ? "" : " " + row.commands + " |") + "\n";
  return text;
}

} // namespace

std::string tessera::helpAsMarkdown(const CLI::App &app) {
  HelpFormatter formatter;
  std::vector<Section> sections;
  std::string text = "\n# Options of `tessera`\n\n| command | what it does |\n"
                     "|---|---|\n";
  for (const CLI::App *sub : app.get_subcommands({})) {
    text += "| `" + sub->get_name() + "` | " + sub->get_description() + " |\n";
    for (const CLI::Option *option : sub->get_options())
      if (option->nonpositional() && option != sub->get_help_ptr())
        add(sections, *option, formatter.make_option_name(option, false),
            sub->get_name());
  }
  // What commands print comes last, though all commands print.
  std::stable_partition(sections.begin(), sections.end(),
                        [](const Section &s) { return s.title != "Output"; });
  for (const Section &section : sections)
    text += table(section);
  return text;
}
