#include "runtime/tokenizer/Utf8.h"

#include <cstdint>
#include <cstring>

namespace tessera {

/// Moves `at` over a code point, or over the maximal part of one.
static bool skipCodePoint(std::string_view text, size_t &at) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(text.data());
  UChar32 c;
  U8_NEXT(bytes, at, text.size(), c);
  return c >= 0;
}

static bool goesOn(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

/// Returns the bytes of a code point of two or three bytes that `text` begins
/// with, or 0. Most texts that are not ASCII are made of those.
static size_t shortCodePoint(std::string_view text) {
  auto lead = static_cast<uint8_t>(text[0]);
  if (text.size() < 3 || !goesOn(text[1]))
    return 0;
  if (lead >= 0xC2 && lead <= 0xDF)
    return 2;
  // Neither surrogates nor code points that two bytes could hold.
  auto second = static_cast<uint8_t>(text[1]);
  bool isThree = lead >= 0xE0 && lead <= 0xEF && goesOn(text[2]) &&
                 (lead != 0xE0 || second >= 0xA0) &&
                 (lead != 0xED || second < 0xA0);
  return isThree ? 3 : 0;
}

size_t validPrefix(std::string_view text) {
  constexpr uint64_t high = 0x8080808080808080u;
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word;
    while (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if (word & high)
        break;
      at += sizeof word;
    }
    if (at == text.size())
      break;
    size_t begin = at, few = shortCodePoint(text.substr(at));
    at += few;
    if (few == 0 && !skipCodePoint(text, at))
      return begin;
  }
  return text.size();
}

std::string_view validUtf8(std::string_view text, std::string &storage) {
  size_t valid = validPrefix(text);
  if (valid == text.size())
    return text;
  storage.assign(text.substr(0, valid));
  for (size_t at = valid; at < text.size();) {
    size_t begin = at;
    if (skipCodePoint(text, at))
      storage.append(text.substr(begin, at - begin));
    else
      appendCodePoint(storage, replacementCharacter);
  }
  return storage;
}

std::string excerpt(std::string_view text) {
  constexpr size_t most = 80;
  if (text.size() <= most)
    return std::string(text);
  size_t end = most;
  while (end > 0 && (text[end] & 0xC0) == 0x80)
    --end;
  return std::string(text.substr(0, end)) + "...";
}

size_t incompleteTail(std::string_view text) {
  size_t longest = text.size() < 3 ? text.size() : 3;
  for (size_t length = 1; length <= longest; ++length) {
    auto lead = static_cast<unsigned char>(text[text.size() - length]);
    if (lead < 0x80)
      return 0;
    if (lead < 0xC0)
      continue;
    size_t at = 0;
    std::string_view tail = text.substr(text.size() - length);
    size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    // A maximal part that reaches the end may still be completed.
    return !skipCodePoint(tail, at) && at == length && length < wanted ? length
                                                                       : 0;
  }
  return 0;
}

} // namespace tessera
