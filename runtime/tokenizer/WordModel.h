//===- WordModel.h - from words to ids --------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_WORDMODEL_H
#define TESSERA_RUNTIME_TOKENIZER_WORDMODEL_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/TextLimit.h"
#include "runtime/tokenizer/TokenTable.h"
#include "runtime/tokenizer/WordCache.h"

#include <memory>

namespace tessera {

using Ids = std::vector<int32_t>;

/// The form in which the model gets words.
enum class WordForm {
  Text, ///< Characters, which may be those of ByteAlphabet.h.
  Bytes ///< Each byte stands for its character of ByteAlphabet.h.
};

/// To be used by one thread at a time.
class Model {
public:
  explicit Model(const JsonView &part) : where(part.where()) {}
  virtual ~Model() = default;
  /// Pieces from now on are of a text of so many bytes, whose first id comes
  /// after `before` others.
  void begin(size_t textBytes, size_t before) {
    work.reset(textBytes);
    mostIds = before + TextLimit::factor * textBytes + spareIds;
  }
  /// Appends the ids of a piece that is not empty. TSR_CORRUPT: it needs the
  /// unknown token, and the vocabulary has none. TSR_UNSUPPORTED: it needs too
  /// many ids or too much work for the length of the text.
  virtual void encode(std::string_view piece, Ids &ids) {
    encodeWord(piece, ids);
  }
  /// Returns whether words may be of this form; before the first `encode`.
  virtual bool use(WordForm form) { return form == WordForm::Text; }
  const TokenTable &vocabulary() const { return tokens; }

protected:
  /// Takes a word's ids from the cache, or from `encodeNew`.
  void encodeWord(std::string_view word, Ids &ids);
  virtual void encodeNew(std::string_view word, Ids &ids) = 0;
  /// Reads {"token": id, ..} of a file.
  void readVocabulary(const JsonView &view);
  /// Appends a token for each byte, "<0x0A>" and so on; false, and `ids` as
  /// they were, if one is missing.
  bool addByteTokens(std::string_view text, Ids &ids) const;
  void spend(size_t steps) { work.spend(where, steps); }
  void requireFew(const Ids &ids) const;

  const std::string where; ///< The part, for errors.
  TokenTable tokens;

private:
  /// A prefix of 1000 bytes, and as many tokens for it, takes so many within
  /// 4000 characters; they cost 16 MiB.
  static constexpr size_t spareIds = size_t(1) << 22;

  WorkLimit work;
  size_t mostIds = spareIds;
  WordCache cache;
};

/// Reads a model. TSR_CORRUPT, TSR_UNSUPPORTED name what is wrong.
std::unique_ptr<Model> readModel(const JsonView &part);

std::unique_ptr<Model> readBpe(const JsonView &part);
std::unique_ptr<Model> readUnigram(const JsonView &part);
std::unique_ptr<Model> readWordPiece(const JsonView &part);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_WORDMODEL_H
