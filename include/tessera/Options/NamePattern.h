//===- NamePattern.h - which parameters an option names ---------*- C++ -*-===//
// Options that concern some parameters only say which by patterns of their
// names: "transformer.wte.weight", "*.bias", "*.h.[0-3].*". It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_NAMEPATTERN_H
#define TESSERA_OPTIONS_NAMEPATTERN_H

#include <string>
#include <vector>

namespace tessera {

/// A pattern is of a whole name, as a shell has it: `*` stands for any letters,
/// dots too, `?` for one, `[0-3]` for one of these, `[!0-3]` for one of the
/// others. All else stands for itself.
class NamePattern {
public:
  explicit NamePattern(std::string text) : text(std::move(text)) {}

  bool matches(const std::string &name) const;
  const std::string &str() const { return text; }
  bool operator==(const NamePattern &other) const { return text == other.text; }

private:
  std::string text;
};

using NamePatterns = std::vector<NamePattern>;

bool matchesAny(const NamePatterns &patterns, const std::string &name);

/// Returns what is wrong with the text of a pattern, or "": it is empty, or a
/// `[` is not closed.
std::string checkPattern(const std::string &flag, const std::string &text);

/// Returns an error for the first pattern of `flag` that matches none of the
/// names, or "". A pattern that does nothing is a mistake of the one who wrote
/// it.
std::string checkPatternsMatch(const std::string &flag,
                               const NamePatterns &patterns,
                               const std::vector<std::string> &names);

} // namespace tessera

#endif // TESSERA_OPTIONS_NAMEPATTERN_H
