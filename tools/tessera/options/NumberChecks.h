//===- NumberChecks.h - what numbers an option takes ------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_NUMBERCHECKS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_NUMBERCHECKS_H

#include <CLI/CLI.hpp>

namespace tessera {

/// CLI11's own validators print the limits of double.
inline CLI::Validator checkSign(const char *what, bool (*legal)(double)) {
  return CLI::Validator(
      [what, legal](std::string &text) {
        double value = 0;
        bool fits = CLI::detail::lexical_cast(text, value) && legal(value);
        return fits ? std::string()
                    : "must be " + std::string(what) + ", but is " + text;
      },
      "");
}
inline CLI::Validator positive() {
  return checkSign("a number above 0", [](double v) { return v > 0; });
}
inline CLI::Validator notNegative() {
  return checkSign("a number not below 0", [](double v) { return v >= 0; });
}

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_NUMBERCHECKS_H
