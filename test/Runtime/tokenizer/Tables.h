//===- Tables.h - tables of sentencepiece's rules ---------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_TOKENIZER_TABLES_H
#define TESSERA_TEST_RUNTIME_TOKENIZER_TABLES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace texts {

inline std::string encodeBase64(const std::string &bytes) {
  const char *digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6)
      text += digits[bits >> (count - 6) & 63];
  }
  if (count > 0)
    text += digits[bits << (6 - count) & 63];
  return text;
}

/// A trie of Darts-clone. Units that are not set are children of none.
class Trie {
public:
  explicit Trie(size_t count = 512) : units(count, noLabel) {
    units[0] = 256 << 10;
  }

  /// Returns the child of the unit whose children lie at `base`; its own lie at
  /// its index xor `offset`.
  uint32_t add(uint32_t base, unsigned char byte, uint32_t offset) {
    units[base ^ byte] = byte | offset << 10;
    return (base ^ byte) ^ offset;
  }
  /// Adds a unit as `add` does, and a rule there whose text begins at `text`.
  uint32_t addRule(uint32_t base, unsigned char byte, uint32_t offset,
                   uint32_t text) {
    uint32_t own = add(base, byte, offset);
    units[base ^ byte] |= 1 << 8;
    units[own] = 1u << 31 | text;
    return own;
  }

  static constexpr uint32_t noLabel = 0xFF | 1u << 31;
  std::vector<uint32_t> units;
};

/// Returns the rule that makes what begins at `text` of an 'a'.
inline Trie letterRule(uint32_t text) {
  Trie trie;
  trie.addRule(256, 'a', 64, text);
  return trie;
}

inline std::string tableOf(const Trie &trie, const std::string &texts) {
  const auto size = static_cast<uint32_t>(4 * trie.units.size());
  std::string bytes(4 + size, '\0');
  std::memcpy(bytes.data(), &size, 4);
  std::memcpy(bytes.data() + 4, trie.units.data(), size);
  return bytes + texts;
}

} // namespace texts

#endif // TESSERA_TEST_RUNTIME_TOKENIZER_TABLES_H
