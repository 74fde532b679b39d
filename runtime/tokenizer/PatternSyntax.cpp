//===- PatternSyntax.cpp - Oniguruma's expressions for PCRE2 --------------===//
// Both match in the same order, leftmost alternative first. They differ in
// classes: what \s and \w are, which version of Unicode properties are of, and
// what \h, \b and nested brackets mean. Those that differ are spelled out or
// refused.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/Pattern.h"
#include "runtime/tokenizer/Utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <unicode/uset.h>
#include <unicode/ustring.h>

#include <cstdio>
#include <cstring>
#include <map>

namespace tessera {

const char *const patternSpaces =
    "\\x{9}-\\x{d} \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
    "\\x{202f}\\x{205f}\\x{3000}";
const char *const patternWords =
    "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";
static const char *const patternNoSpaces =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}"
    "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-"
    "\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}";

/// Returns the characters of a general category that PCRE2's Unicode has not
/// yet, as ranges of a class.
static std::string newerCharacters(const std::string &category) {
  char version[32] = "";
  pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version);
  if (char *patch = std::strchr(version, '.'))
    if ((patch = std::strchr(patch + 1, '.')))
      *patch = '\0'; // ICU knows ages of two numbers
  std::string text = concat("[[:gc=", category, ":]-[:age=", version, ":]]");
  std::u16string wide(text.begin(), text.end());
  UErrorCode error = U_ZERO_ERROR;
  std::unique_ptr<USet, void (*)(USet *)> set(
      uset_openPattern(wide.data(), static_cast<int32_t>(wide.size()), &error),
      uset_close);
  std::string ranges;
  if (U_FAILURE(error)) // a property that is no category
    return ranges;
  for (int32_t i = 0; i < uset_getItemCount(set.get()); ++i) {
    UChar32 first, last;
    uset_getItem(set.get(), i, &first, &last, nullptr, 0, &error);
    char range[48];
    std::snprintf(range, sizeof range, "\\x{%x}-\\x{%x}", first, last);
    ranges += range;
  }
  return ranges;
}

namespace {

class Translator {
public:
  static constexpr size_t longest = size_t(1) << 18;

  Translator(std::string_view pattern, const std::string &where)
      : pattern(pattern), where(where) {}

  std::string translate() {
    while (at < pattern.size()) {
      translateItem();
      if (out.size() > longest)
        fail(TSR_UNSUPPORTED, where, " has ", pattern.size(),
             " bytes, which become more than ", longest,
             " for PCRE2, the most that are read");
    }
    return std::move(out);
  }

private:
  bool startsWith(std::string_view text) const {
    return pattern.substr(at, text.size()) == text;
  }
  void copy(size_t count) {
    out += pattern.substr(at, count);
    at += count;
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(TSR_UNSUPPORTED, where, " has '", excerpt(what), "' at byte ", at,
         " of '", excerpt(pattern),
         "', which is not supported in regular expressions");
  }

  void translateItem() {
    char c = pattern[at];
    if (c == '\\')
      translateEscape(Place::Outside);
    else if (c == '[')
      translateClass();
    else if (c == '(')
      translateGroup();
    else if (c == '{')
      translateBraces();
    else if (c == '^' || c == '$') {
      out += c == '^' ? "(?m:^)" : "(?m:$)"; // always at lines
      ++at;
    } else
      copy(1);
  }

  void translateGroup();
  void translateBraces();
  enum class Place { Outside, Class };
  void translateEscape(Place place);
  bool translateShorthand(char letter, Place place);
  void translateProperty(Place place);
  void translateCode();
  void translateClass();

  std::string_view pattern;
  const std::string &where;
  std::map<std::string, std::string> newerOf; ///< Its keys are categories.
  std::string out;
  size_t at = 0;
};

void Translator::translateGroup() {
  if (startsWith("(*")) // a verb, or an option of the whole expression
    refuse(pattern.substr(at, 2));
  if (!startsWith("(?"))
    return copy(1);
  for (const char *begin : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>",
                            "(?i:", "(?-i:", "(?i)", "(?-i)"})
    if (startsWith(begin))
      return copy(std::strlen(begin));
  refuse(pattern.substr(at, 4));
}

/// {n}, {n,}, {,m} and {n,m}; other braces are characters.
void Translator::translateBraces() {
  size_t end = pattern.find('}', at);
  std::string_view counts =
      end == std::string_view::npos ? "" : pattern.substr(at + 1, end - at - 1);
  bool isCount =
      counts.find_first_not_of("0123456789,") == std::string_view::npos &&
      counts.find_first_of("0123456789") != std::string_view::npos &&
      counts.find(',') == counts.rfind(',');
  if (!isCount) {
    out += "\\{";
    ++at;
    return;
  }
  // There it repeats the repetition, here it would be possessive.
  if (end + 1 < pattern.size() && pattern[end + 1] == '+')
    refuse(pattern.substr(at, end + 2 - at));
  if (counts[0] == ',') {
    out += "{0";
    ++at;
  }
  copy(end + 1 - at);
}

void Translator::translateEscape(Place place) {
  if (at + 1 == pattern.size())
    refuse("\\");
  char letter = pattern[at + 1];
  if (letter == 'p' || letter == 'P')
    return translateProperty(place);
  if (letter == 'x' || letter == 'u')
    return translateCode();
  if (translateShorthand(letter, place))
    return;
  bool isLetter = (letter >= 'a' && letter <= 'z') ||
                  (letter >= 'A' && letter <= 'Z') ||
                  (letter >= '0' && letter <= '9');
  bool isKnown = std::strchr("ntrfdD", letter) ||
                 (place == Place::Outside && std::strchr("Az", letter));
  if (isLetter && !isKnown)
    refuse(pattern.substr(at, 2));
  copy(2);
}

bool Translator::translateShorthand(char letter, Place place) {
  bool isInClass = place == Place::Class;
  const char *content = letter == 's' || letter == 'S'   ? patternSpaces
                        : letter == 'w' || letter == 'W' ? patternWords
                                                         : nullptr;
  if (!content)
    return false;
  bool isNegative = letter == 'S' || letter == 'W';
  if (!isInClass)
    out += concat(isNegative ? "[^" : "[", content, "]");
  else if (!isNegative)
    out += content;
  else if (letter == 'S')
    out += patternNoSpaces;
  else
    refuse("\\W");
  at += 2;
  return true;
}

/// \p{L}, \P{L}, \p{^L}
void Translator::translateProperty(Place place) {
  size_t end = pattern.find('}', at);
  if (at + 2 >= pattern.size() || pattern[at + 2] != '{' ||
      end == std::string_view::npos)
    refuse(pattern.substr(at, 2));
  std::string name(pattern.substr(at + 3, end - at - 3));
  bool isNegative = pattern[at + 1] == 'P';
  if (!name.empty() && name[0] == '^') {
    isNegative = !isNegative;
    name.erase(0, 1);
  }
  std::string newer;
  if (name.size() <= 2) {
    auto [found, isNew] = newerOf.try_emplace(name);
    if (isNew)
      found->second = newerCharacters(name);
    newer = found->second;
  }
  if (name.size() > 2)
    name = "sc:" + name; // a script; without "sc:" also where it is used
  if (isNegative && place == Place::Class)
    out += "\\P{" + name + "}";
  else if (place == Place::Class)
    out += "\\p{" + name + "}" + newer;
  else if (newer.empty())
    out += (isNegative ? "\\P{" : "\\p{") + name + "}";
  else
    out += concat(isNegative ? "[^" : "[", "\\p{", name, "}", newer, "]");
  at = end + 1;
}

/// \xHH, \x{H..}, \uHHHH
void Translator::translateCode() {
  bool isBraced = pattern[at + 1] == 'x' && at + 2 < pattern.size() &&
                  pattern[at + 2] == '{';
  size_t digits = pattern[at + 1] == 'u' ? 4 : 2;
  size_t begin = at + (isBraced ? 3 : 2);
  size_t end = isBraced ? pattern.find('}', begin) : begin + digits;
  std::string_view code =
      end > pattern.size() ? "" : pattern.substr(begin, end - begin);
  if (code.empty() || code.size() > 6 ||
      code.find_first_not_of("0123456789abcdefABCDEF") !=
          std::string_view::npos)
    refuse(pattern.substr(at, 2));
  out += concat("\\x{", code, "}");
  at = end + (isBraced ? 1 : 0);
}

void Translator::translateClass() {
  copy(1);
  if (startsWith("^"))
    copy(1);
  size_t begin = at;
  while (at < pattern.size() && pattern[at] != ']') {
    if (pattern[at] == '[')
      refuse("["); // a class in a class
    if (startsWith("&&"))
      refuse("&&");
    if (pattern[at] == '\\')
      translateEscape(Place::Class);
    else
      copy(1);
  }
  if (at == pattern.size() || at == begin)
    fail(TSR_CORRUPT, where, " has an empty or open class of characters in '",
         excerpt(pattern), "'");
  copy(1);
}

} // namespace

std::string translatePattern(std::string_view pattern,
                             const std::string &where) {
  return Translator(pattern, where).translate();
}

} // namespace tessera
