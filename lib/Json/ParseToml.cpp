//===- ParseToml.cpp - TOML from outside as tables ------------------------===//

#include "tessera/Json/ParseToml.h"
#include "tessera/Json/ReadText.h"
#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// Checks a text line by line, before the parser sees it. It reads strings and
/// comments as the parser does, which is easy, since no string has several
/// lines: so no dot of a key is taken for another.
class LineCheck {
public:
  explicit LineCheck(std::string &text) : text(text) {}

  /// Makes comments ASCII. Returns what is wrong in line number `line`, or "".
  std::string run();
  int64_t line = 1;

private:
  /// Go over what begins at `at`.
  std::string skipString();
  void skipComment();
  /// Returns whether the dot at `at` is one in a number such as 1.5.
  bool isOfNumber() const;

  std::string &text;
  size_t at = 0, dots = 0;
};

std::string LineCheck::skipString() {
  const char quote = text[at];
  if (StringRef(text).substr(at, 3) == std::string(3, quote))
    return "a text over several lines is not supported; write it in one line";
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    StringRef escape = StringRef(text).substr(at, 2);
    at += quote == '"' && (escape == "\\\"" || escape == "\\\\");
    if (!llvm::isASCII(text[at]))
      return "a character that is not of ASCII; only comments may have those";
  }
  // The parser says that a string does not end in its line.
  at += at < text.size() && text[at] == quote;
  return "";
}

void LineCheck::skipComment() {
  for (; at < text.size() && text[at] != '\n'; ++at)
    text[at] = llvm::isASCII(text[at]) ? text[at] : '?';
}

bool LineCheck::isOfNumber() const {
  auto ofWord = [&](size_t i) {
    return llvm::isAlnum(text[i]) || StringRef("_+-.").contains(text[i]);
  };
  size_t begin = at, end = at + 1;
  while (begin > 0 && ofWord(begin - 1))
    --begin;
  while (end < text.size() && ofWord(end))
    ++end;
  StringRef word = StringRef(text).slice(begin, end);
  return at > begin && at + 1 < end && llvm::isDigit(text[at - 1]) &&
         llvm::isDigit(text[at + 1]) && word.count('.') == 1;
}

std::string LineCheck::run() {
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      if (std::string why = skipString(); !why.empty())
        return why;
      continue;
    }
    if (c == '#') {
      skipComment();
      continue;
    }
    if (!llvm::isASCII(c))
      return "a character that is not of ASCII; only comments may have those";
    if (c == '.' && !isOfNumber() && ++dots > kMostTomlDots)
      return "more than " + std::to_string(kMostTomlDots) +
             " dots between names; nest tables less deep";
    if (c == '\n') {
      ++line;
      dots = 0;
    }
    ++at;
  }
  return "";
}

} // namespace

Expected<toml::table> tessera::readToml(const std::string &path) {
  auto buffer = readText(path, kMostTomlBytes, "a file of TOML");
  if (!buffer)
    return buffer.takeError();
  std::string text = (*buffer)->getBuffer().str();
  LineCheck check(text);
  if (std::string why = check.run(); !why.empty())
    return llvm::createStringError(path + ":" + std::to_string(check.line) +
                                   ": " + why);
  toml::parse_result file = toml::parse(text, path);
  if (file)
    return std::move(file).table();
  const toml::source_position &where = file.error().source().begin;
  return llvm::createStringError(path + ":" + std::to_string(where.line) + ":" +
                                 std::to_string(where.column) + ": " +
                                 std::string(file.error().description()));
}
