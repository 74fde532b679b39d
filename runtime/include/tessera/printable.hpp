//===- printable.hpp - texts from outside, for terminals --------*- C++ -*-===//
// A name in a file may hold bytes that a terminal obeys (they set its title or
// clipboard, or move its cursor) or that make a line look like another. These
// functions write such bytes visibly, as \x1b or \u202e. Header only, C++17.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PRINTABLE_HPP
#define TESSERA_PRINTABLE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// The characters that stay as they are.
enum class Printed {
  Line, ///< Visible characters, spaces, and what joins letters of scripts
        ///< that need it, or emojis. Names and messages are lines.
  Text  ///< Also line breaks, tabs, and joiners of letters and emojis.
};

namespace detail {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1; ///< In bytes.
  bool isValid = false;   ///< The bytes are UTF-8.
  bool isCut = false;     ///< More bytes could make it valid.
};

/// Reads the first character of a text that is not empty. UTF-8 has one way to
/// write a character, and none for surrogates (RFC 3629, section 3).
inline Character firstCharacter(std::string_view text) {
  const auto byte = [&](std::size_t k) {
    return static_cast<unsigned char>(text[k]);
  };
  const unsigned first = byte(0);
  if (first < 0x80)
    return {first, 1, true, false};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4)
    return {};
  std::uint32_t code = first & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if (k == text.size())
      return {0, k, false, true};
    const unsigned next = byte(k);
    const unsigned least = k > 1           ? 0x80
                           : first == 0xe0 ? 0xa0
                           : first == 0xf0 ? 0x90
                                           : 0x80;
    const unsigned most = k > 1           ? 0xbf
                          : first == 0xed ? 0x9f
                          : first == 0xf4 ? 0x8f
                                          : 0xbf;
    if (next < least || next > most)
      return {};
    code = code << 6 | (next & 0x3f);
  }
  return {code, length, true, false};
}

/// Returns whether a character joins or shapes its neighbours, as in Persian
/// words and in emojis of several parts.
inline bool joins(std::uint32_t code) {
  return code == 0x200c || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f);
}

/// Returns whether nobody sees a character, or it changes the order of others.
inline bool isHidden(std::uint32_t code) {
  constexpr std::uint32_t ranges[][2] = {
      {0x00, 0x1f},        // controls
      {0x7f, 0x9f},        // delete, and controls again
      {0xad, 0xad},        // soft hyphen
      {0x61c, 0x61c},      // Arabic letter mark
      {0x115f, 0x1160},    // Hangul fillers
      {0x17b4, 0x17b5},    // Khmer inherent vowels
      {0x180b, 0x180f},    // Mongolian selectors
      {0x200b, 0x200f},    // zero width, and marks of direction
      {0x2028, 0x202e},    // separators, embeddings and overrides
      {0x2060, 0x206f},    // joiners and isolates
      {0x3164, 0x3164},    // Hangul filler
      {0xfdd0, 0xfdef},    // noncharacters
      {0xfe00, 0xfe0f},    // selectors of variations
      {0xfeff, 0xfeff},    // byte order mark
      {0xffa0, 0xffa0},    // half-width Hangul filler
      {0xfff9, 0xfffb},    // annotations
      {0x1d173, 0x1d17a},  // musical formats
      {0xe0000, 0xe0fff}}; // tags
  if ((code & 0xfffe) == 0xfffe)
    return true;
  for (const auto &range : ranges)
    if (code >= range[0] && code <= range[1])
      return true;
  return false;
}

/// Returns whether joiners change how a character is shown: letters from Arabic
/// to Burmese, and emojis. Between others nobody sees them.
inline bool isJoined(std::uint32_t code) {
  return (code >= 0x600 && code < 0x1100) || code == 0xfe0f ||
         (code >= 0x2190 && code < 0x2c00) ||
         (code >= 0x1f000 && code < 0x1fb00);
}

/// Returns whether a joiner is visible in what it makes of its neighbours:
/// `before`, 0 if it is not printed as it is, and the first of `rest`.
inline bool joinsVisibly(std::uint32_t code, std::uint32_t before,
                         std::string_view rest) {
  if (!joins(code) || !isJoined(before))
    return false;
  if (code == 0xfe0f)
    return before != 0xfe0f;
  if (code >= 0xfe00 || rest.empty())
    return false;
  const Character next = firstCharacter(rest);
  return next.isValid && isJoined(next.code) && !isHidden(next.code);
}

inline bool isPrinted(std::uint32_t code, Printed kind) {
  if (kind == Printed::Text && (code == '\n' || code == '\t' || joins(code)))
    return true;
  return !isHidden(code);
}

/// Passes a backslash, a letter and `digits` hexadecimal digits to `put`.
template <class Put>
void putEscape(char letter, int digits, std::uint32_t value, Put &put) {
  char text[10] = {'\\', letter};
  for (int k = 0; k < digits; ++k)
    text[2 + k] = "0123456789abcdef"[value >> (4 * (digits - 1 - k)) & 15];
  put(std::string_view(text, 2 + static_cast<std::size_t>(digits)));
}

template <class Put> void putHidden(std::uint32_t code, Put &put) {
  if (code == '\n')
    put(std::string_view("\\n"));
  else if (code == '\r')
    put(std::string_view("\\r"));
  else if (code == '\t')
    put(std::string_view("\\t"));
  else if (code < 0x80)
    putEscape('x', 2, code, put);
  else if (code < 0x10000)
    putEscape('u', 4, code, put);
  else
    putEscape('U', 8, code, put);
}

} // namespace detail

/// Passes the parts of the printable text to `put`, which takes a
/// std::string_view. It allocates nothing. The printable text has at most four
/// times as many bytes, and is not changed by being made printable again.
template <class Put>
void putPrintable(std::string_view text, Printed kind, Put &&put) {
  std::size_t begin = 0;
  std::uint32_t before = 0;
  for (std::size_t at = 0; at < text.size();) {
    const detail::Character next = detail::firstCharacter(text.substr(at));
    if (next.isValid && (detail::isPrinted(next.code, kind) ||
                         detail::joinsVisibly(next.code, before,
                                              text.substr(at + next.length)))) {
      at += next.length;
      before = next.code;
      continue;
    }
    before = 0;
    if (at > begin)
      put(text.substr(begin, at - begin));
    if (next.isValid)
      detail::putHidden(next.code, put);
    else
      for (std::size_t k = 0; k < next.length; ++k)
        detail::putEscape('x', 2, static_cast<unsigned char>(text[at + k]),
                          put);
    at += next.length;
    begin = at;
  }
  if (begin < text.size())
    put(text.substr(begin));
}

inline std::string printable(std::string_view text,
                             Printed kind = Printed::Line) {
  std::string result;
  result.reserve(text.size());
  putPrintable(text, kind, [&](std::string_view part) { result += part; });
  return result;
}

/// A value in a message, which may be a path, has at most this many bytes. The
/// message shows the beginning of a longer one, and its number of bytes.
constexpr std::size_t kLongestValue = 600, kBeginningOfValue = 200;
/// A message has at most this many bytes. The middle of a longer one is left
/// out, because its end often says what to do.
constexpr std::size_t kLongestMessage = 1900;

namespace detail {

/// Returns whether a cut before this byte would part a character.
inline bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

inline std::string_view headOf(std::string_view text, std::size_t most) {
  for (int k = 0; k < 3 && most > 0 && continues(text[most]); ++k)
    --most;
  return text.substr(0, most);
}

inline std::string_view tailOf(std::string_view text, std::size_t most) {
  std::size_t begin = text.size() - most;
  for (int k = 0; k < 3 && begin < text.size() && continues(text[begin]); ++k)
    ++begin;
  return text.substr(begin);
}

/// Passes the parts of a message, which is a line, to `put`. It allocates
/// nothing, as there may be no memory left.
template <class Put> void putMessage(std::string_view text, Put &&put) {
  if (text.size() <= kLongestMessage)
    return putPrintable(text, Printed::Line, put);
  const std::string_view head = headOf(text, kLongestMessage * 2 / 3);
  const std::string_view tail = tailOf(text, kLongestMessage / 3);
  putPrintable(head, Printed::Line, put);
  put(std::string_view(" ..("));
  std::size_t left = text.size() - head.size() - tail.size();
  char digits[20];
  std::size_t count = 0;
  for (; left > 0 || count == 0; left /= 10)
    digits[count++] = static_cast<char>('0' + left % 10);
  std::reverse(digits, digits + count);
  put(std::string_view(digits, count));
  put(std::string_view(" bytes left out).. "));
  putPrintable(tail, Printed::Line, put);
}

} // namespace detail

/// Returns a value as a message quotes it.
inline std::string printableValue(std::string_view text) {
  if (text.size() <= kLongestValue)
    return printable(text);
  return printable(detail::headOf(text, kBeginningOfValue)) + "..(" +
         std::to_string(text.size()) + " bytes)";
}

/// Returns a whole message as one line: no value in it begins a line of its
/// own.
inline std::string printableMessage(std::string_view text) {
  std::string result;
  detail::putMessage(text, [&](std::string_view part) { result += part; });
  return result;
}

/// Makes a text printable that comes in parts, which may cut characters.
class PrintableParts {
public:
  std::string push(std::string_view part) {
    held += part;
    const std::size_t cut = cutBytes();
    std::string result = printable(
        std::string_view(held).substr(0, held.size() - cut), Printed::Text);
    held.erase(0, held.size() - cut);
    return result;
  }
  /// Returns the rest after the last part.
  std::string finish() {
    std::string result = printable(held, Printed::Text);
    held.clear();
    return result;
  }

private:
  /// Returns the length of a character at the end that is not complete.
  std::size_t cutBytes() const {
    const std::size_t most = std::min<std::size_t>(held.size(), 3);
    for (std::size_t k = most; k > 0; --k) {
      const detail::Character last = detail::firstCharacter(
          std::string_view(held).substr(held.size() - k));
      if (last.isCut && last.length == k)
        return k;
    }
    return 0;
  }

  std::string held;
};

/// Quotes a word for a command that a message proposes, so that a shell to
/// which it is pasted reads one word and runs nothing in it.
inline std::string shellWord(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_./=:,+@%-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
    return std::string(word);
  std::string result = "'";
  for (const char c : word)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

} // namespace tessera

#endif // TESSERA_PRINTABLE_HPP
