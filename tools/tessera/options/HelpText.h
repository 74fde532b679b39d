//===- HelpText.h - how help is printed -------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_HELPTEXT_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_HELPTEXT_H

#include <CLI/CLI.hpp>

namespace tessera {

/// Help in lines of a terminal's width: commands, or the options of a command
/// by group, each group with an example.
class HelpFormatter : public CLI::FormatterBase {
public:
  /// A command shows the first example of a group whose options it has.
  void addExample(const CLI::App *app, const std::string &group,
                  const std::string &example) {
    examples.push_back({app, group, example});
  }
  std::string make_help(const CLI::App *app, std::string name,
                        CLI::AppFormatMode mode) const override;
  /// Returns the example; "" if there is none.
  std::string exampleOf(const CLI::App &app, const std::string &group) const;

private:
  struct Example {
    const CLI::App *app;
    std::string group, text;
  };
  std::vector<Example> examples;
};

/// Writes every option of every command, as the tables of
/// docs/reference/options.md.
std::string helpAsMarkdown(const CLI::App &app, const HelpFormatter &formatter);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_HELPTEXT_H
