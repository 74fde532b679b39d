//===- Tokenizer.h - texts to ids and back ----------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_TOKENIZER_H
#define TESSERA_RUNTIME_TOKENIZER_TOKENIZER_H

#include "tessera/tokenizer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// To be used by one thread at a time.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;
  Tokenizer() = default;
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  /// Appends the ids of a text of any bytes. TSR_UNSUPPORTED, TSR_CORRUPT: the
  /// text needs what the tokenizer has not.
  virtual void encode(std::string_view text, tsr_special special,
                      std::vector<int32_t> &ids) = 0;
  /// Decodes ids, which must be in [0, vocabularySize()).
  virtual std::string decode(const std::vector<int32_t> &ids,
                             tsr_special special) const = 0;
  /// Returns the largest id and one.
  virtual int32_t vocabularySize() const = 0;
  /// Returns the id of a token; -1 if there is no such token.
  virtual int32_t idOf(std::string_view token) const = 0;
  /// Appends the bytes of a token; false if texts are more than the bytes of
  /// their tokens.
  virtual bool appendBytesOf(int32_t id, tsr_special special,
                             std::string &bytes) const = 0;
  /// Returns the byte that a token stands for among texts; -1: it is none.
  virtual int byteOf(int32_t id) const = 0;

  /// Returns how many bytes of text ids in [0, vocabularySize()) stand for,
  /// characters complete or not.
  size_t countBytes(const std::vector<int32_t> &ids, tsr_special special) const;
  /// Fails with TSR_INVALID_ARGUMENT, which names an id outside of the
  /// vocabulary.
  void requireIds(const int32_t *ids, size_t count) const;

  std::string endToken; ///< The token that ends a document; "": none is known.
};

/// Loads the tokenizer of a Hugging Face folder, or a tokenizer.json or
/// tokenizer.model. TSR_NOT_FOUND, TSR_IO, TSR_CORRUPT, TSR_UNSUPPORTED.
std::unique_ptr<Tokenizer> loadTokenizer(const std::string &path);

/// The 256 ids are the bytes of a text, as training reads text files.
std::unique_ptr<Tokenizer> makeByteTokenizer();

/// The tokens that tokenizer_config.json adds around a text, if no
/// post-processor does.
struct AroundText {
  bool begins = false, ends = false;
};
/// Reads the content of a tokenizer.model.
std::unique_ptr<Tokenizer> readSentencePiece(const std::string &source,
                                             std::string_view content,
                                             AroundText around);

/// Reads the content of a tokenizer.json; `source` names it in errors.
std::unique_ptr<Tokenizer> readTokenizer(const std::string &source,
                                         std::string_view content);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_TOKENIZER_H
