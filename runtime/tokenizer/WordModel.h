//===- WordModel.h - from words to ids --------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_WORDMODEL_H
#define TESSERA_RUNTIME_TOKENIZER_WORDMODEL_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/TokenTable.h"
#include "runtime/tokenizer/WordCache.h"

#include <memory>

namespace tessera {

using Ids = std::vector<int32_t>;

/// What words are when the model gets them.
enum class WordForm {
  Text, ///< Of characters, which may be those of ByteAlphabet.h.
  Bytes ///< Each byte stands for its character of ByteAlphabet.h.
};

/// To be used by one thread at a time.
class Model {
public:
  virtual ~Model() = default;
  /// Appends the ids of a piece that is not empty. TSR_CORRUPT: it needs the
  /// unknown token, and the vocabulary has none.
  virtual void encode(std::string_view piece, Ids &ids) {
    encodeWord(piece, ids);
  }
  /// Whether words may be of this form; before the first `encode`.
  virtual bool use(WordForm form) { return form == WordForm::Text; }
  const TokenTable &vocabulary() const { return tokens; }

protected:
  /// From the cache, or by `encodeNew`.
  void encodeWord(std::string_view word, Ids &ids);
  virtual void encodeNew(std::string_view word, Ids &ids) = 0;
  /// Of a file's {"token": id, ..}.
  void readVocabulary(const JsonView &view);
  /// Appends a token for each byte, "<0x0A>" and so on; false, and `ids` as
  /// they were, if one is missing.
  bool addByteTokens(std::string_view text, Ids &ids) const;

  TokenTable tokens;

private:
  WordCache cache;
};

/// TSR_CORRUPT, TSR_UNSUPPORTED name what is wrong.
std::unique_ptr<Model> readModel(const JsonView &part);

std::unique_ptr<Model> readBpe(const JsonView &part);
std::unique_ptr<Model> readUnigram(const JsonView &part);
std::unique_ptr<Model> readWordPiece(const JsonView &part);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_WORDMODEL_H
