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
    size_t begin = at;
    if (at < text.size() && !skipCodePoint(text, at))
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
