//===- PrecompiledNormalizer.cpp - texts by sentencepiece's rules ---------===//
// The rules are looked up for graphemes, then for characters.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/CharacterMap.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <array>

namespace tessera {

/// Decodes base64, RFC 4648, section 4.
static std::string decodeBase64(const JsonView &view) {
  const std::string &text = view.text();
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<int8_t>(i);
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  size_t end = text.find_last_not_of('=');
  for (size_t i = 0; end != std::string::npos && i <= end; ++i) {
    int8_t value = values[static_cast<unsigned char>(text[i])];
    if (value < 0)
      view.refuse(concat("is not base64 at byte ", i));
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) >= 8)
      out += static_cast<char>(bits >> (count -= 8));
  }
  return out;
}

namespace {

class Precompiled final : public Normalizer {
public:
  explicit Precompiled(const JsonView &part)
      : Normalizer(part), map(decodeBase64(part.at("precompiled_charsmap")),
                              part.at("precompiled_charsmap").where(),
                              CharacterMap::Reader::Ours) {
    requireKeys(part, {"type", "precompiled_charsmap"});
    UErrorCode error = U_ZERO_ERROR;
    graphemes.reset(icu::BreakIterator::createCharacterInstance(
        icu::Locale::getRoot(), error));
    if (U_FAILURE(error))
      fail(TSR_INTERNAL,
           "ICU has no boundaries of characters: ", u_errorName(error));
    std::string_view replacement;
    for (size_t c = 0; c < hasRule.size(); ++c) {
      const char character = static_cast<char>(c);
      hasRule[c] = find({&character, 1}, replacement);
    }
  }

  void change(NormalText &text) const override {
    text.scratch.clear();
    std::string_view old = text.text;
    for (size_t at = 0; at < old.size();) {
      size_t ascii = asciiEnd(old, at);
      replaceAscii(old.substr(at, ascii - at), text);
      at = ascii;
      if (at == old.size())
        break;
      size_t end = at;
      while (end < old.size() && !isPlain(old, end))
        ++end;
      // A number sign of Arabic, say, belongs to the digit after it.
      if (end < old.size() && !isAscii(old[end - 1]))
        ++end;
      replaceGraphemes(old.substr(at, end - at), text);
      at = end;
    }
    text.take();
  }

private:
  /// Returns whether a grapheme of one ASCII character begins and ends here.
  static bool isPlain(std::string_view text, size_t at) {
    return isAscii(text[at]) && text[at] != '\r' && text[at] != '\n' &&
           (at + 1 == text.size() || isAscii(text[at + 1]));
  }
  static size_t asciiEnd(std::string_view text, size_t at) {
    while (at < text.size() && isPlain(text, at))
      ++at;
    return at;
  }

  /// Rules lengthen a text by any factor, so that each result is checked.
  void append(NormalText &text, std::string_view part) const {
    text.limit.require(where, text.scratch.size() + part.size());
    text.scratch += part;
  }

  /// Finds the rule for the beginning of `text`. The rest of the text is
  /// dropped, as `tokenizers` does.
  bool find(std::string_view text, std::string_view &replacement) const {
    size_t bytes;
    return map.find(text, CharacterMap::Rule::Shortest, bytes, replacement);
  }

  void replaceAscii(std::string_view characters, NormalText &text) const {
    for (size_t at = 0; at < characters.size();) {
      size_t begin = at;
      while (at < characters.size() &&
             !hasRule[static_cast<unsigned char>(characters[at])])
        ++at;
      append(text, characters.substr(begin, at - begin));
      if (at < characters.size())
        replaceCharacters(characters.substr(at++, 1), text);
    }
  }

  void replaceCharacters(std::string_view characters, NormalText &text) const {
    for (size_t at = 0; at < characters.size();) {
      size_t length = codePointBytes(characters, at);
      std::string_view character = characters.substr(at, length), replacement;
      append(text, find(character, replacement) ? replacement : character);
      at += length;
    }
  }

  void replaceGraphemes(std::string_view run, NormalText &text) const {
    if (run.size() > INT32_MAX)
      fail(TSR_UNSUPPORTED, where, " cannot take ", run.size(),
           " bytes in a row that are not ASCII, at most ", INT32_MAX,
           "; split the text into documents");
    UErrorCode error = U_ZERO_ERROR;
    std::unique_ptr<UText, UText *(*)(UText *)> view(
        utext_openUTF8(nullptr, run.data(), static_cast<int64_t>(run.size()),
                       &error),
        utext_close);
    graphemes->setText(view.get(), error);
    if (U_FAILURE(error))
      fail(TSR_INTERNAL,
           "ICU cannot find boundaries of characters: ", u_errorName(error));
    constexpr size_t longest = 5; // a grapheme that rules are looked up for
    size_t begin = 0;
    for (int32_t next = graphemes->next(); next != icu::BreakIterator::DONE;
         next = graphemes->next()) {
      auto end = static_cast<size_t>(next);
      std::string_view grapheme = run.substr(begin, end - begin), replacement;
      if (grapheme.size() <= longest && find(grapheme, replacement))
        append(text, replacement);
      else
        replaceCharacters(grapheme, text);
      begin = end;
    }
  }

  CharacterMap map;
  std::array<bool, 128> hasRule; ///< Indexed by ASCII character.
  std::unique_ptr<icu::BreakIterator> graphemes;
};

} // namespace

std::unique_ptr<Normalizer> readPrecompiled(const JsonView &part) {
  return std::make_unique<Precompiled>(part);
}

} // namespace tessera
