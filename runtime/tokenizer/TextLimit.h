//===- TextLimit.h - how much may become of a text --------------*- C++ -*-===//
// A file of a stranger says what is made of a text. Whatever it says, the text
// grows and costs in proportion to its length, or is refused.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_TEXTLIMIT_H
#define TESSERA_RUNTIME_TOKENIZER_TEXTLIMIT_H

#include "runtime/support/Status.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

/// The limit of growth of one text, whose parts lie beside each other.
struct TextLimit {
  /// U+FDFA, the longest of Unicode's decompositions, becomes 13 times as long
  /// with U+2581 for its spaces.
  static constexpr size_t factor = 16;
  /// Lets short texts have a prefix.
  static constexpr size_t spare = 64;

  size_t original = 0; ///< Bytes of the text as it was given.
  size_t others = 0;   ///< Bytes that the step made of other parts.

  /// Fails with TSR_UNSUPPORTED, which names the step `where` that makes a part
  /// of `bytes` bytes, if the text then is too long.
  void require(const std::string &where, size_t bytes) const {
    if (bytes + others > factor * original + spare)
      refuse(where, bytes);
  }

private:
  [[noreturn]] void refuse(const std::string &where, size_t bytes) const {
    fail(TSR_UNSUPPORTED, where, " makes ", bytes + others,
         " bytes or more of a text of ", original, ", at most ", factor,
         " times as many and ", spare,
         " are made; use the tokenizer of another model");
  }
};

/// Counts steps of work, such as bytes that are compared. The limit depends on
/// the text alone, so that a text is refused on each machine or on none.
class WorkLimit {
public:
  static constexpr size_t perByte = 256, spare = size_t(1) << 26;

  void reset(size_t textBytes) {
    bytes = textBytes;
    most = textBytes * perByte + spare;
    done = 0;
  }
  /// Counts steps. TSR_UNSUPPORTED names `where`.
  void spend(const std::string &where, size_t steps) {
    if ((done += steps) > most)
      refuse(where);
  }

private:
  [[noreturn]] void refuse(const std::string &where) const {
    fail(TSR_UNSUPPORTED, where, " needs more than ", most,
         " steps for a text of ", bytes,
         " bytes; split it into shorter documents, or use the tokenizer of "
         "another model");
  }

  size_t bytes = 0, most = spare, done = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_TEXTLIMIT_H
