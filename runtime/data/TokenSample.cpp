#include "runtime/data/TokenSample.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tessera {

// Fewer values may look like anything.
static constexpr size_t fewestBytes = 64;

template <class Integer>
static std::vector<Integer> integersOf(std::string_view bytes) {
  std::vector<Integer> values(bytes.size() / sizeof(Integer));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Integer));
  return values;
}

/// Returns whether every second value is at most `highest`, and the others are
/// not.
template <class Integer>
static bool hasHighHalves(std::string_view bytes, uint64_t highest) {
  if (bytes.size() < fewestBytes)
    return false;
  std::vector<Integer> values = integersOf<Integer>(bytes);
  bool hasLow = false;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    if (values[i + 1] > highest)
      return false;
    hasLow |= values[i] > highest;
  }
  return hasLow;
}

bool isLikeUint32(std::string_view bytes, int64_t vocabulary) {
  return hasHighHalves<uint16_t>(bytes,
                                 static_cast<uint64_t>(vocabulary - 1) >> 16);
}

bool isLikeInt64(std::string_view bytes) {
  return hasHighHalves<uint32_t>(bytes, 0);
}

/// Returns the bytes of the character of UTF-8 that begins with `byte`; 0: none
/// does.
static size_t characterBytes(unsigned char byte) {
  bool isSpace = byte >= '\t' && byte <= '\r';
  if (byte < 128)
    return (byte < ' ' && !isSpace) || byte == 127 ? 0 : 1;
  return byte < 0xC2   ? 0
         : byte < 0xE0 ? 2
         : byte < 0xF0 ? 3
         : byte < 0xF5 ? 4
                       : 0;
}

bool isLikeText(std::string_view bytes) {
  for (size_t at = 0, next; at < bytes.size(); at = next) {
    next = at + characterBytes(bytes[at]);
    if (next == at)
      return false;
    for (size_t i = at + 1; i < std::min(next, bytes.size()); ++i)
      if ((bytes[i] & 0xC0) != 0x80)
        return false;
  }
  return bytes.size() >= fewestBytes;
}

template <class Integer>
static bool areBelow(std::string_view bytes, int64_t vocabulary) {
  if (bytes.size() < fewestBytes)
    return false;
  std::vector<Integer> values = integersOf<Integer>(bytes);
  return std::all_of(values.begin(), values.end(),
                     [&](Integer value) { return value < vocabulary; });
}

static std::string withBytesSwapped(std::string_view bytes, size_t width) {
  std::string swapped(bytes.substr(0, bytes.size() / width * width));
  for (size_t at = 0; at < swapped.size(); at += width)
    std::reverse(swapped.begin() + at, swapped.begin() + at + width);
  return swapped;
}

std::string explainToken(int64_t token, int64_t width, std::string_view sample,
                         int64_t vocabulary) {
  if (width == 1 && !sample.empty())
    return "text is read as bytes, of which a vocabulary of 256 holds all; use "
           "such a model, or a file of tokens";
  if (isLikeText(sample))
    return "the file looks like text; use --data-format text";
  if (width == 4 && areBelow<uint16_t>(sample, vocabulary))
    return "the file looks like uint16; use --data-format uint16";
  std::string swapped = withBytesSwapped(sample, width);
  if (width == 2 ? areBelow<uint16_t>(swapped, vocabulary)
                 : areBelow<uint32_t>(swapped, vocabulary))
    return "the file looks big-endian; write it little-endian";
  if (token < 0)
    return "no token is negative; leave such ids out";
  if (token > INT32_MAX && token <= UINT32_MAX)
    return concat("as int32 it is ", static_cast<int32_t>(token),
                  ", and no token is negative; leave such ids out");
  return "the data was made with another tokenizer";
}

} // namespace tessera
