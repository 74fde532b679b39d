//===- SentencePieceModel.h - a tokenizer.model, checked first --*- C++ -*-===//
// The library sentencepiece trusts its models: it reads outside of a table of
// rules, and outside of an array if too many rules or user-defined pieces begin
// with each other, recurses as deep as a piece is long, and ends the process
// where it finds a contradiction. So a model is checked before it gets it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_SENTENCEPIECEMODEL_H
#define TESSERA_RUNTIME_TOKENIZER_SENTENCEPIECEMODEL_H

#include "runtime/tokenizer/CharacterMap.h"

#include <memory>
#include <vector>

namespace tessera {

struct SentencePieceModel {
  /// A serialized ModelProto (sentencepiece_model.proto). TSR_CORRUPT,
  /// TSR_UNSUPPORTED name what is wrong.
  SentencePieceModel(const std::string &source, std::string_view content);

  /// The model as it was given, without its tests of itself: the library prints
  /// those that fail.
  std::string content;
  /// The most bytes that normalization makes of one.
  size_t growth = 3; // U+2581 for a space, U+FFFD for a byte
  size_t longestPiece = 0;
  bool fallsBackToBytes = false;
  std::unique_ptr<CharacterMap> rules; ///< Null: texts stay as they are.
  size_t pieceCount = 0;
  struct Piece {
    std::string text;
    bool isUsed;
  };
  /// The pieces that texts are cut into, without those of bytes.
  std::vector<Piece> pieces;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_SENTENCEPIECEMODEL_H
