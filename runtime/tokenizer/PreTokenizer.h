//===- PreTokenizer.h - cutting texts into words ----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_PRETOKENIZER_H
#define TESSERA_RUNTIME_TOKENIZER_PRETOKENIZER_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/Pieces.h"

namespace tessera {

/// One step.
class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;
  /// Appends the parts of `piece`, which is no token and not empty, to `out`.
  virtual void apply(const Piece &piece, Pieces &out,
                     TextArena &arena) const = 0;
  /// Pieces from now on are of a text of so many bytes.
  virtual void begin(size_t) const {}
};

struct PreTokenizers {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  std::vector<std::string> places; ///< Errors name the steps by them.
  /// True if each byte of a word is yet to become its character of
  /// ByteAlphabet.h. A model that knows bytes need not do it.
  bool endsInBytes = false;
};

/// Sequences become one list. TSR_CORRUPT, TSR_UNSUPPORTED.
PreTokenizers readPreTokenizers(const JsonView &part);
/// Returns the step that `endsInBytes` leaves out.
std::unique_ptr<PreTokenizer> makeByteStep();

/// U+2581 for spaces, as sentencepiece writes them.
struct MetaspaceOptions {
  explicit MetaspaceOptions(const JsonView &part);

  enum class Prepend { First, Never, Always };
  std::string replacement;
  Prepend prepend;
  bool splits;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_PRETOKENIZER_H
