//===- HelpText.h - how help is printed -------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_HELPTEXT_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_HELPTEXT_H

#include <CLI/CLI.hpp>

namespace tessera {

/// Names of switches without the values that they stand for.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_option_name(const CLI::Option *option,
                               bool isPositional) const override;
};

/// Every option of every command, as the tables of docs/reference/options.md.
std::string helpAsMarkdown(const CLI::App &app);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_HELPTEXT_H
