//===- Normalizer.h - what is made of a text before it is split -*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_NORMALIZER_H
#define TESSERA_RUNTIME_TOKENIZER_NORMALIZER_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/TextLimit.h"

#include <memory>
#include <string>

namespace tessera {

struct NormalText {
  std::string text;
  /// Its first character comes from where the original text begins.
  bool isFirst = true;
  TextLimit limit;
  std::string scratch; ///< Kept, so that few calls allocate.

  /// Makes `scratch` the text.
  void take() { text.swap(scratch); }
};

class Normalizer {
public:
  enum class Check { Text, Nothing };

  /// A step that has its text from others that check it need not do so.
  explicit Normalizer(const JsonView &part, Check check = Check::Text)
      : where(part.where()), check(check) {}
  virtual ~Normalizer() = default;
  /// The text is valid UTF-8 and not empty, and may become empty.
  /// TSR_UNSUPPORTED: it grows beyond its limit. TSR_CORRUPT: it becomes no
  /// UTF-8.
  void apply(NormalText &text) const;
  /// Texts from now on are parts of one of so many bytes, whose work is limited
  /// in proportion to it.
  virtual void begin(size_t) const {}

protected:
  virtual void change(NormalText &text) const = 0;

  const std::string where; ///< The step, for errors.

private:
  const Check check;
};

/// Reads a normalizer. TSR_CORRUPT, TSR_UNSUPPORTED name what is wrong.
std::unique_ptr<Normalizer> readNormalizer(const JsonView &part);

std::unique_ptr<Normalizer> readBertNormalizer(const JsonView &part);
std::unique_ptr<Normalizer> readPrecompiled(const JsonView &part);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_NORMALIZER_H
