//===- Characters.h - classes of characters ---------------------*- C++ -*-===//
// Classes of characters as the `tokenizers` package has them: some of them are
// those of old versions of Unicode. ICU says how old a character is.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_CHARACTERS_H
#define TESSERA_RUNTIME_TOKENIZER_CHARACTERS_H

#include <string>

namespace tessera {

using CharacterClass = bool (*)(char32_t);

/// Returns whether a character is in Unicode's White_Space.
bool isWhitespace(char32_t c);
/// Returns whether its general category is N.
bool isNumber(char32_t c);
/// Returns whether a character is part of a word, which is \w in regular
/// expressions of Rust.
bool isWordCharacter(char32_t c);
/// Returns whether it is in ASCII's punctuation or that of Unicode 8.
bool isPunctuation(char32_t c);
/// Returns whether BERT's cleaning removes a character: categories Cc, Cf and
/// Co of Unicode 8 without tab and line breaks, and U+FFFD.
bool isRemovedByBert(char32_t c);
/// Returns whether it is in the blocks of CJK ideographs that BERT puts spaces
/// around.
bool isIdeographOfBert(char32_t c);
/// Returns whether its category is Mn in Unicode 8.
bool isAccentOfBert(char32_t c);
/// Returns whether its category is M in Unicode 9.
bool isCombiningMark(char32_t c);

/// Appends the lower case of `c`, whatever stands beside it.
void appendLowercase(std::string &text, char32_t c);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_CHARACTERS_H
