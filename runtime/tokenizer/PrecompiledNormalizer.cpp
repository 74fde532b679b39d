//===- PrecompiledNormalizer.cpp - sentencepiece's table of rules ---------===//
// A trie of what is replaced and a text of what replaces it, as
// `precompiled_charsmap` holds them: u32 bytes of the trie, its units, then the
// texts, each ended by a zero byte. Units are those of Darts-clone.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tessera {

/// RFC 4648, section 4.
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

/// The rules: what a text is replaced by.
class CharacterMap {
public:
  explicit CharacterMap(const JsonView &view) {
    std::string bytes = decodeBase64(view);
    uint32_t size = 0;
    if (bytes.size() >= sizeof size)
      std::memcpy(&size, bytes.data(), sizeof size);
    if (size == 0 || size % 4 != 0 || size > bytes.size() - sizeof size)
      view.refuse(concat("has ", bytes.size(), " bytes, of which ", size,
                         " are said to be a trie; it is torn"));
    units.resize(size / 4);
    std::memcpy(units.data(), bytes.data() + sizeof size, size);
    std::string_view rest = std::string_view(bytes).substr(sizeof size + size);
    texts = validUtf8(rest, bytes);
    texts += '\0';
  }

  /// What the shortest rule for a beginning of `text` says. (Shortest, and
  /// whatever follows is dropped: `tokenizers` does so.)
  bool find(std::string_view text, std::string_view &replacement) const {
    uint32_t node = offsetOf(units[0]);
    for (unsigned char byte : text) {
      node ^= byte;
      if (byte == 0 || node >= units.size() || labelOf(units[node]) != byte)
        return false;
      bool isLeaf = units[node] >> 8 & 1;
      node ^= offsetOf(units[node]);
      if (!isLeaf)
        continue;
      if (node >= units.size())
        return false;
      uint32_t begin = units[node] & 0x7FFFFFFF;
      if (begin >= texts.size())
        return false;
      replacement = std::string_view(texts).substr(begin);
      replacement = replacement.substr(0, replacement.find('\0'));
      return true;
    }
    return false;
  }

private:
  static uint32_t labelOf(uint32_t unit) { return unit & 0x800000FF; }
  static uint32_t offsetOf(uint32_t unit) {
    return (unit >> 10) << ((unit & 1 << 9) >> 6);
  }

  std::vector<uint32_t> units;
  std::string texts;
};

class Precompiled final : public Normalizer {
public:
  explicit Precompiled(const JsonView &part)
      : map(part.at("precompiled_charsmap")) {
    requireKeys(part, {"type", "precompiled_charsmap"});
    UErrorCode error = U_ZERO_ERROR;
    graphemes.reset(icu::BreakIterator::createCharacterInstance(
        icu::Locale::getRoot(), error));
    if (U_FAILURE(error))
      fail(TSR_INTERNAL,
           "ICU has no boundaries of characters: ", u_errorName(error));
  }

  void apply(NormalText &text) const override {
    text.scratch.clear();
    std::string_view old = text.text;
    for (size_t at = 0; at < old.size();) {
      size_t ascii = asciiEnd(old, at);
      for (; at < ascii; ++at)
        replaceCharacters(old.substr(at, 1), text.scratch);
      if (at == old.size())
        break;
      size_t end = at;
      while (end < old.size() && !isPlain(old, end))
        ++end;
      // A number sign of Arabic, say, belongs to the digit after it.
      if (end < old.size() && !isAscii(old[end - 1]))
        ++end;
      replaceGraphemes(old.substr(at, end - at), text.scratch);
      at = end;
    }
    text.take();
  }

private:
  /// Whether a grapheme of one ASCII character begins and ends here.
  static bool isPlain(std::string_view text, size_t at) {
    return isAscii(text[at]) && text[at] != '\r' && text[at] != '\n' &&
           (at + 1 == text.size() || isAscii(text[at + 1]));
  }
  static size_t asciiEnd(std::string_view text, size_t at) {
    while (at < text.size() && isPlain(text, at))
      ++at;
    return at;
  }

  void replaceCharacters(std::string_view text, std::string &out) const {
    for (size_t at = 0; at < text.size();) {
      size_t length = codePointBytes(text, at);
      std::string_view character = text.substr(at, length), replacement;
      out += map.find(character, replacement) ? replacement : character;
      at += length;
    }
  }

  void replaceGraphemes(std::string_view run, std::string &out) const {
    UErrorCode error = U_ZERO_ERROR;
    UText view = UTEXT_INITIALIZER;
    utext_openUTF8(&view, run.data(), static_cast<int64_t>(run.size()), &error);
    graphemes->setText(&view, error);
    if (U_FAILURE(error))
      fail(TSR_INTERNAL,
           "ICU cannot find boundaries of characters: ", u_errorName(error));
    constexpr size_t longest = 5; // a grapheme that rules are looked up for
    size_t begin = 0;
    for (int32_t next = graphemes->next(); next != icu::BreakIterator::DONE;
         next = graphemes->next()) {
      auto end = static_cast<size_t>(next);
      std::string_view grapheme = run.substr(begin, end - begin), replacement;
      if (grapheme.size() <= longest && map.find(grapheme, replacement))
        out += replacement;
      else
        replaceCharacters(grapheme, out);
      begin = end;
    }
    utext_close(&view);
  }

  CharacterMap map;
  std::unique_ptr<icu::BreakIterator> graphemes;
};

} // namespace

std::unique_ptr<Normalizer> readPrecompiled(const JsonView &part) {
  return std::make_unique<Precompiled>(part);
}

} // namespace tessera
