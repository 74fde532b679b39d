//===- Pattern.h - regular expressions of tokenizers ------------*- C++ -*-===//
// Files write them for Oniguruma, with Unicode of the day. `PatternSyntax.cpp`
// says the same for PCRE2, or refuses what means something else there.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_PATTERN_H
#define TESSERA_RUNTIME_TOKENIZER_PATTERN_H

#include <memory>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;
struct pcre2_real_jit_stack_8;

namespace tessera {

/// Returns the expression in PCRE2's syntax. TSR_UNSUPPORTED names the first
/// construct that has no counterpart; `where` says whose expression it is.
std::string translatePattern(std::string_view pattern,
                             const std::string &where);

/// The classes \s and \w of Rust or Oniguruma as ranges and properties without
/// brackets, for PCRE2.
extern const char *const patternSpaces;
extern const char *const patternWords;

/// A compiled expression. To be used by one thread at a time.
class Pattern {
public:
  /// TSR_UNSUPPORTED, TSR_CORRUPT: it is no expression.
  Pattern(std::string_view pattern, const std::string &where)
      : Pattern(translatePattern(pattern, where), where, Translated()) {}
  /// Makes a pattern from an expression that is written for PCRE2.
  static Pattern ofPcre2(const std::string &expression) {
    return Pattern(expression, expression, Translated());
  }

  struct Match {
    size_t begin, end;
  };
  /// Matches from now on are in parts of a text of so many bytes, all of which
  /// together may take steps in proportion to it.
  void begin(size_t textBytes) const;
  /// Finds the first match at or after `from`. TSR_UNSUPPORTED: the text, which
  /// is valid UTF-8, needs more steps or more memory than there is.
  bool find(std::string_view text, size_t from, Match &match) const;

  /// Calls `visit(begin, end)` for each match; empty ones that follow another
  /// match at once are left out.
  template <class Visit>
  void forEachMatch(std::string_view text, const Visit &visit) const;

private:
  struct Translated {};
  struct Free {
    void operator()(pcre2_real_code_8 *object) const;
    void operator()(pcre2_real_match_data_8 *object) const;
    void operator()(pcre2_real_match_context_8 *object) const;
    void operator()(pcre2_real_jit_stack_8 *object) const;
  };
  Pattern(const std::string &expression, const std::string &where, Translated);
  struct Attempt;
  int run(std::string_view text, const Attempt &attempt) const;
  [[noreturn]] void refuse(std::string_view text, const std::string &why) const;

  // Matches of one character, and empty ones between them, take half of it if
  // they need no window but the first.
  static constexpr size_t stepsPerByte = 1024, spareSteps = size_t(1) << 26;

  std::string name;
  std::unique_ptr<pcre2_real_code_8, Free> code;
  std::unique_ptr<pcre2_real_match_data_8, Free> data;
  std::unique_ptr<pcre2_real_jit_stack_8, Free> stack;
  std::unique_ptr<pcre2_real_match_context_8, Free> context;
  bool isJit = false;
  mutable size_t mostSteps = spareSteps, leftSteps = spareSteps;
};

template <class Visit>
void Pattern::forEachMatch(std::string_view text, const Visit &visit) const {
  size_t from = 0, lastEnd = std::string_view::npos;
  Match match;
  while (from <= text.size() && find(text, from, match)) {
    from = match.end;
    if (match.begin != match.end || match.begin != lastEnd) {
      visit(match.begin, match.end);
      lastEnd = match.end;
      continue;
    }
    do // to the next code point
      ++from;
    while (from < text.size() && (text[from] & 0xC0) == 0x80);
  }
}

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_PATTERN_H
