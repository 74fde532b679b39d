#include "runtime/tokenizer/PartReader.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cctype>

namespace tessera {

void refusePart(const JsonView &part, const std::string &what) {
  fail(TSR_UNSUPPORTED, part.where(), " ", what);
}

std::string typeOf(const JsonView &part) { return part.at("type").text(); }

void requireKeys(const JsonView &part,
                 std::initializer_list<const char *> keys) {
  part.requireObject();
  for (const auto &member : part.raw().items())
    if (std::none_of(keys.begin(), keys.end(),
                     [&](const char *key) { return member.key() == key; }))
      refusePart(part, concat("has the key '", member.key(),
                              "', which is not supported here"));
}

void requireFewValues(const JsonView &part, size_t most) {
  std::vector<const nlohmann::json *> open = {&part.raw()};
  size_t count = 1;
  while (!open.empty()) {
    const nlohmann::json &value = *open.back();
    open.pop_back();
    if (!value.is_structured())
      continue;
    count += value.size();
    if (count > most)
      refusePart(part, concat("holds ", count, " values or more, at most ",
                              most, " are read"));
    for (const nlohmann::json &item : value)
      open.push_back(&item);
  }
}

bool flagOf(const JsonView &part, const char *key, bool standard) {
  return part.has(key) ? part.at(key).boolean() : standard;
}

std::string textOf(const JsonView &part, const char *key,
                   const char *standard) {
  return part.has(key) ? part.at(key).text() : standard;
}

std::string characterOf(const JsonView &part, const char *key) {
  const std::string &text = part.at(key).text();
  if (text.empty() || codePointBytes(text, 0) != text.size())
    part.at(key).refuse(concat("is '", text, "', it must be one character"));
  return text;
}

PatternText patternOf(const JsonView &part) {
  JsonView pattern = part.at("pattern");
  requireKeys(pattern, {"String", "Regex"});
  bool isRegex = pattern.has("Regex");
  return {pattern.at(isRegex ? "Regex" : "String").text(), isRegex};
}

Pattern compilePattern(const JsonView &part, const PatternText &pattern) {
  std::string where = part.at("pattern").where();
  if (pattern.isRegex)
    return Pattern(pattern.text, where);
  std::string quoted;
  for (char c : pattern.text) {
    if (std::ispunct(static_cast<unsigned char>(c)))
      quoted += '\\';
    quoted += c;
  }
  return Pattern::ofPcre2(quoted);
}

} // namespace tessera
