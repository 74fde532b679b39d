#include "runtime/tokenizer/ByteAlphabet.h"

#include "runtime/tokenizer/Utf8.h"

#include <array>

namespace tessera {

namespace {
struct Alphabet {
  Alphabet() {
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      bool isSeen = (byte >= '!' && byte <= '~') ||
                    (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      char32_t c = isSeen ? static_cast<char32_t>(byte) : next++;
      appendCodePoint(characters[byte], c);
      bytes[c] = static_cast<int16_t>(byte);
      isThere[c] = true;
    }
  }

  static constexpr char32_t end = 0x144;
  std::array<std::string, 256> characters;
  std::array<int16_t, end> bytes = {};
  std::array<bool, end> isThere = {};
};
} // namespace

static const Alphabet &alphabet() {
  static const Alphabet table;
  return table;
}

std::string_view characterOfByte(unsigned char byte) {
  return alphabet().characters[byte];
}

void appendCharacters(std::string &out, std::string_view bytes) {
  const Alphabet &table = alphabet();
  for (unsigned char byte : bytes)
    out += table.characters[byte];
}

bool appendBytes(std::string &out, std::string_view characters) {
  const Alphabet &table = alphabet();
  size_t before = out.size();
  for (size_t at = 0; at < characters.size();) {
    char32_t c = nextCodePoint(characters, at);
    if (c >= Alphabet::end || !table.isThere[c]) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(table.bytes[c]);
  }
  return true;
}

} // namespace tessera
