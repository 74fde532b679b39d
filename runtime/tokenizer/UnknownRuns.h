//===- UnknownRuns.h - characters that a model does not know ----*- C++ -*-===//
// The library sentencepiece makes one token of unknown characters beside each
// other, and copies all of them for each one more. So texts get shorter runs of
// them, which make the same token.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_UNKNOWNRUNS_H
#define TESSERA_RUNTIME_TOKENIZER_UNKNOWNRUNS_H

#include "runtime/tokenizer/SentencePieceModel.h"

namespace tessera {

class UnknownRuns {
public:
  /// Keeps a reference to the model.
  UnknownRuns(const SentencePieceModel &model, const std::string &source);

  /// Returns `text`, or a copy in `storage` without the middles of long runs.
  /// TSR_UNSUPPORTED: a long run is of characters that rules are for, or that
  /// are within pieces, so that it cannot be shortened.
  std::string_view shorten(std::string_view text, std::string &storage) const;

private:
  class Scan;

  bool beginsRule(std::string_view text) const {
    return model.rules && model.rules->begins(text);
  }

  const SentencePieceModel &model;
  std::string source;
  std::vector<bool> isPiece, isWithinPiece; ///< Indexed by characters.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_UNKNOWNRUNS_H
