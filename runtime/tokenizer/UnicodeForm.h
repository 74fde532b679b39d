//===- UnicodeForm.h - normalization forms of Unicode 9 ---------*- C++ -*-===//
// The `tokenizers` package has that version: younger characters stay as they
// are.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_UNICODEFORM_H
#define TESSERA_RUNTIME_TOKENIZER_UNICODEFORM_H

#include <memory>
#include <string>
#include <string_view>

namespace tessera {

class UnicodeForm {
public:
  /// Takes "NFC", "NFD", "NFKC" or "NFKD".
  explicit UnicodeForm(const std::string &name);
  UnicodeForm(UnicodeForm &&) noexcept;
  ~UnicodeForm();

  /// Normalizes a text into `out`; returns false if the text is in this form
  /// already.
  bool apply(std::string_view text, std::string &out) const;

private:
  struct Tables;
  std::unique_ptr<Tables> tables;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_UNICODEFORM_H
