//===- Decoder.h - from tokens back to text ---------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_DECODER_H
#define TESSERA_RUNTIME_TOKENIZER_DECODER_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/TextLimit.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

class Decoder {
public:
  explicit Decoder(const JsonView &part) : where(part.where()) {}
  virtual ~Decoder() = default;
  /// Decodes the texts of tokens in place; joined, they are the text. They are
  /// valid UTF-8 before and after. TSR_UNSUPPORTED: they grow beyond `limit`.
  void apply(std::vector<std::string> &tokens, const TextLimit &limit) const;
  /// Returns whether tokens are bytes in the characters of ByteAlphabet.h, and
  /// nothing else is done to them.
  virtual bool isOfBytes() const { return false; }
  /// Returns whether a token such as "<0x0A>" becomes a byte.
  virtual bool hasByteTokens() const { return false; }

protected:
  virtual void change(std::vector<std::string> &tokens,
                      const TextLimit &limit) const = 0;

  const std::string where; ///< The step, for errors.
};

/// Reads a decoder. TSR_CORRUPT, TSR_UNSUPPORTED name what is wrong.
std::unique_ptr<Decoder> readDecoder(const JsonView &part);

/// Appends the bytes of a token: those that its characters stand for, or its
/// own.
void appendTokenBytes(std::string &out, std::string_view token);
/// Returns the byte that a token such as "<0x0A>" names, or -1.
int byteOfToken(std::string_view token);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_DECODER_H
