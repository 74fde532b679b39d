#include "test/Fuzz/Tokenizer/TextMutation.h"

#include "test/Fuzz/Input.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

namespace fuzzed {

static const char *const characters[] = {
    "a",        "b",          " ",      "  ",         "\n",         "\r\n",
    "\u00e9",   "e\u0301",    "\u0301", "\u0316",     "\u2581",     "\u0120",
    "\ufdfa",   "\u0130",     "\u4e2d", "\U0001f9ed", "\U0001f1e9", "\u200d",
    "\ufe0f",   "\u1100",     "\uac00", "\uff9e",     "\u0f73",     "\ufffd",
    "\ufeff",   "\U0010ffff", "\u0600", "##",         "</w>",       "<s>",
    "<unk>",    "<0x0A>",     "<0xE4>", "\\p{L}+",    "(a+)+b",     "a*",
    "[^\\s]",   "(?!a)",      "(?<=a)", ".",          "$",          "\xc3",
    "\xe4\xb8", "\xf0\x9f",   "\xff"};

std::string changeText(std::string text, Random &random) {
  size_t at = below(random, text.size() + 1);
  size_t length = std::min(below(random, 9), text.size() - at);
  switch (below(random, 5)) {
  case 0:
    return text.erase(at, length);
  case 1: { // many times
    std::string part = text.substr(at, length);
    for (size_t times = size_t(1) << below(random, 7); times > 0; --times)
      text.insert(at, part);
    return text;
  }
  case 2:
    return text.replace(at, length,
                        characters[below(random, std::size(characters))]);
  case 3:
    std::reverse(text.begin(), text.end());
    return text;
  default:
    return text.insert(at, characters[below(random, std::size(characters))]);
  }
}

double edgeNumber(Random &random) {
  constexpr double edges[] = {0,
                              -1,
                              1,
                              2,
                              255,
                              256,
                              65535,
                              65536,
                              16777215,
                              16777216,
                              2147483647.0,
                              2147483648.0,
                              4294967296.0,
                              9223372036854775807.0,
                              -9223372036854775808.0,
                              0.5,
                              1e300,
                              -1e300,
                              1e-300};
  return edges[below(random, std::size(edges))];
}

TextAndFile::TextAndFile(const uint8_t *data, size_t size) {
  Input input(data, size);
  text = input.bytes(input.byte());
  file = input.rest();
}

size_t TextAndFile::write(uint8_t *data, size_t most) const {
  std::string bytes(1, static_cast<char>(std::min<size_t>(text.size(), 255)));
  bytes += text.substr(0, 255) + file;
  size_t size = std::min(bytes.size(), most);
  std::memcpy(data, bytes.data(), size);
  return size;
}

} // namespace fuzzed
