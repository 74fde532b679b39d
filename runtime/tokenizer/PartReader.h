//===- PartReader.h - parts of tokenizer.json, read strictly ----*- C++ -*-===//
// A part that is not understood to its last key would make other tokens than
// its author's program does, so it is refused by name.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_PARTREADER_H
#define TESSERA_RUNTIME_TOKENIZER_PARTREADER_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/Pattern.h"

#include <initializer_list>

namespace tessera {

/// Throws TSR_UNSUPPORTED: "FILE: 'PATH' WHAT".
[[noreturn]] void refusePart(const JsonView &part, const std::string &what);

/// Returns the part's "type".
std::string typeOf(const JsonView &part);

/// Fails with TSR_UNSUPPORTED, which names a key that is not one of these.
void requireKeys(const JsonView &part,
                 std::initializer_list<const char *> keys);

/// Fails with TSR_UNSUPPORTED if the part holds more than `most` values,
/// however they are nested. Each step of a sequence costs time for each text.
void requireFewValues(const JsonView &part, size_t most);

/// Return the member `key`, or `standard` if it is missing or null.
bool flagOf(const JsonView &part, const char *key, bool standard);
std::string textOf(const JsonView &part, const char *key, const char *standard);
/// Returns a text of one code point.
std::string characterOf(const JsonView &part, const char *key);

/// {"String": "..."} or {"Regex": "..."}, as tokenizers writes patterns.
struct PatternText {
  std::string text;
  bool isRegex;
};
PatternText patternOf(const JsonView &part);
Pattern compilePattern(const JsonView &part, const PatternText &pattern);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_PARTREADER_H
