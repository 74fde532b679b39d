//===- CharacterMap.h - sentencepiece's table of rules ----------*- C++ -*-===//
// A trie of what is replaced and a text of what replaces it, as
// `precompiled_charsmap` holds them: u32 bytes of the trie, its units, then the
// texts, each ended by a zero byte. Units are those of Darts-clone.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_CHARACTERMAP_H
#define TESSERA_RUNTIME_TOKENIZER_CHARACTERMAP_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

class CharacterMap {
public:
  /// The reader that looks texts up. The library sentencepiece trusts the
  /// table: each unit that it may read must be there, and the trie must have no
  /// loops.
  enum class Reader { Ours, SentencePiece };

  /// TSR_CORRUPT: a part is missing, a rule's text is not there, begins within
  /// a character or is no UTF-8. `where` names the table in errors.
  CharacterMap(std::string_view bytes, const std::string &where, Reader reader);

  /// `tokenizers` takes the shortest rule, and sentencepiece the longest.
  enum class Rule { Shortest, Longest };
  /// Finds what is made of the first `bytes` bytes of `text`; false if no rule
  /// is for them.
  bool find(std::string_view text, Rule rule, size_t &bytes,
            std::string_view &replacement) const;
  /// Returns whether some rule is for a text that begins with `text`.
  bool begins(std::string_view text) const;

  /// Returns the most rules that one text may begin with.
  size_t nestedRules() const { return mostNested; }
  /// Returns the most bytes that a rule makes of each of its own, with U+2581
  /// for spaces. Both are known for the reader SentencePiece.
  size_t growth() const { return mostGrowth; }

private:
  class Walk;

  template <class Visit>
  bool follow(std::string_view text, const Visit &visit) const;
  static uint32_t labelOf(uint32_t unit) { return unit & 0x800000FF; }
  static uint32_t offsetOf(uint32_t unit) {
    return (unit >> 10) << ((unit & 1 << 9) >> 6);
  }
  static bool hasRule(uint32_t unit) { return unit >> 8 & 1; }
  std::string_view textAt(size_t begin) const {
    return std::string_view(texts).substr(begin,
                                          texts.find('\0', begin) - begin);
  }

  std::vector<uint32_t> units;
  std::string texts;
  size_t mostNested = 0, mostGrowth = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_CHARACTERMAP_H
