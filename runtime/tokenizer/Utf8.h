//===- Utf8.h - code points of texts ----------------------------*- C++ -*-===//
// All texts inside the tokenizer are valid UTF-8: `validUtf8` sees to it at the
// border, and each step of a file is checked after it. No function here reads
// outside of a text that is none: it then finds U+FFFD.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_UTF8_H
#define TESSERA_RUNTIME_TOKENIZER_UTF8_H

#include <unicode/utf8.h>

#include <string>
#include <string_view>

namespace tessera {

constexpr char32_t replacementCharacter = 0xFFFD;

inline bool isAscii(char byte) {
  return static_cast<unsigned char>(byte) < 128;
}

/// Returns the code point at `at`, which is moved to the next one.
inline char32_t nextCodePoint(std::string_view text, size_t &at) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(text.data());
  if (bytes[at] < 128)
    return bytes[at++];
  UChar32 c;
  U8_NEXT_OR_FFFD(bytes, at, text.size(), c);
  return static_cast<char32_t>(c);
}

/// Returns the code point that ends at `at`, which is moved to where it begins.
inline char32_t previousCodePoint(std::string_view text, size_t &at) {
  const size_t begin = at > U8_MAX_LENGTH ? at - U8_MAX_LENGTH : 0;
  const auto *bytes = reinterpret_cast<const uint8_t *>(text.data()) + begin;
  auto end = static_cast<int32_t>(at - begin);
  UChar32 c;
  U8_PREV_OR_FFFD(bytes, 0, end, c);
  at = begin + static_cast<size_t>(end);
  return static_cast<char32_t>(c);
}

inline size_t codePointBytes(std::string_view text, size_t at) {
  size_t end = at;
  nextCodePoint(text, end);
  return end - at;
}

inline void appendCodePoint(std::string &text, char32_t c) {
  char bytes[U8_MAX_LENGTH];
  size_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, c);
  text.append(bytes, length);
}

/// Returns the bytes of the longest valid prefix.
size_t validPrefix(std::string_view text);

/// Returns `text`, or a copy in `storage` with U+FFFD for each maximal part of
/// it that no UTF-8 begins with, as Python's errors="replace" does.
std::string_view validUtf8(std::string_view text, std::string &storage);

/// Returns the first characters of `text`, for errors.
std::string excerpt(std::string_view text);

/// Bytes at the end of `text` that begin a code point and do not complete it.
size_t incompleteTail(std::string_view text);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_UTF8_H
