//===- Declare.h - how commands declare their options -----------*- C++ -*-===//
// An option's type says how its value is read, what --help calls it, and which
// default it shows.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_DECLARE_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_DECLARE_H

#include "tessera/Options/PlanFlags.h"
#include "tools/tessera/options/Suggestion.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace tessera {

/// Ends the parsing with an error.
[[noreturn]] void refuse(const std::string &message);
void refuseUnless(const std::string &why);

/// Returns the text of an option, or of its default value if it is not given.
std::string givenText(const CLI::Option &option);

/// Returns a number with as few digits as tell it from all others.
std::string exactNumber(double value);

/// Puts the options that are declared next into a group of --help, which may
/// show an example. Of several examples of a group, the first is shown whose
/// options the command has.
void beginGroup(CLI::App &app, const std::string &title,
                const std::string &example = "");

/// Leaves an option out of --help, completions, manual pages and options.md.
void hide(CLI::Option &option);
bool isHidden(const CLI::Option &option);

/// Returns a check that a word is one of these.
std::function<std::string(const std::string &)>
oneOf(std::vector<std::string> words);

/// Shows another default of an option than that of other commands.
void setDefault(CLI::App &app, const char *name, const std::string &text);

template <typename T> std::string valueName(FlagCheck, const T &) {
  std::string names;
  for (const auto &row : Names<T>::table)
    names += (names.empty() ? "" : "|") + std::string(row.name);
  return names;
}
inline std::string valueName(FlagCheck check, int64_t) {
  bool isSize = check == FlagCheck::Size || check == FlagCheck::SizeOrZero;
  return isSize ? "SIZE" : "INT";
}
inline std::string valueName(FlagCheck, int32_t) { return "INT"; }
inline std::string valueName(FlagCheck, double) { return "FLOAT"; }
inline std::string valueName(FlagCheck check, const std::string &) {
  return check == FlagCheck::File        ? "FILE"
         : check == FlagCheck::Directory ? "DIR"
                                         : "NAME";
}
inline std::string valueName(FlagCheck, const std::vector<int64_t> &) {
  return "INT,...";
}
inline std::string valueName(FlagCheck, const NamePatterns &) {
  return "PATTERN,...";
}
inline std::string valueName(FlagCheck, const LoraOptions &) {
  return "r=INT,alpha=FLOAT,targets=NAME,...";
}
inline std::string valueName(FlagCheck, const LayerRecompute &) {
  return "LAYERS=MODE,...";
}
inline std::string valueName(FlagCheck, const LayerList &) { return "LAYERS"; }
inline std::string valueName(FlagCheck, const MeshShape &) {
  return "AXIS=SIZE,...";
}
inline std::string valueName(FlagCheck, const DeviceTarget &) {
  return "DEVICE";
}

/// "; did you mean X?" of a name of an enumeration, "" of anything else: a
/// number is as near to any other.
template <typename T> std::string suggestValue(const std::string &text, T &) {
  std::string nearest;
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    for (const auto &row : Names<T>::table)
      names.emplace_back(row.name);
    if (text.find_first_not_of("0123456789") != std::string::npos)
      nearest = nearestName(text, names);
  }
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

template <typename T>
CLI::Option *declare(CLI::App &app, const std::string &flag, FlagCheck check,
                     T &value, const std::string &help) {
  CLI::Option *option = app.add_option_function<std::string>(
      flag,
      [=, &value](const std::string &text) {
        std::string why = readFlag(flag, check, text, value);
        refuseUnless(why.empty() ? why : why + suggestValue(text, value));
      },
      help);
  option->type_name(valueName(check, value));
  if (help.find("(default") == std::string::npos)
    option->default_str(flagText(check, value));
  return option;
}

inline CLI::Option *declare(CLI::App &app, const std::string &flag,
                            FlagCheck check, std::vector<int64_t> &value,
                            const std::string &help) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [=, &value](const std::vector<std::string> &parts) {
            refuseUnless(
                readFlag(flag, check, CLI::detail::join(parts, ","), value));
          },
          help)
      ->delimiter(',')
      ->type_name(valueName(check, value));
}

/// Declares a switch whose number is `usual` if none is given. The parser alone
/// would throw for a number of too many digits.
inline CLI::Option *declareSwitch(CLI::App &app, const std::string &flag,
                                  const std::string &usual, int64_t &value,
                                  const std::string &help) {
  auto take = [&value](int64_t number) { // the parser makes -1 of 0
    value = std::max<int64_t>(number, 0);
  };
  return app.add_flag_function(flag + "{" + usual + "}", take, help)
      ->check([](const std::string &text) {
        int64_t number = 0;
        std::string why = readFlag("", FlagCheck::NotNegative, text, number);
        return why.empty() ? why : why.substr(2); // the parser names the flag
      });
}

/// Declares a switch; one that is on by default can be turned off.
inline CLI::Option *declare(CLI::App &app, const std::string &flag, FlagCheck,
                            bool &value, const std::string &help) {
  if (!value)
    return app.add_flag(flag, value, help);
  return app.add_flag(flag + ",!--no-" + flag.substr(2), value, help)
      ->default_str("on");
}

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_DECLARE_H
