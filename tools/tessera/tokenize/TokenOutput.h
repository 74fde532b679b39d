//===- TokenOutput.h - files of tokens that train reads ---------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENOUTPUT_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENOUTPUT_H

#include "tessera/Target/StreamedOutput.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tessera {

/// Writes documents of tokens as they come, beside the files that `finish`
/// replaces: these are complete or as they were before.
class TokenOutput {
public:
  /// Takes `format` as users name it, and ids below `vocabulary`. Returns what
  /// is wrong, or "".
  std::string open(const std::string &path, const std::string &format,
                   int64_t vocabulary);
  /// Takes ids below the vocabulary. Returns what is wrong, or "".
  std::string addDocument(llvm::ArrayRef<int32_t> ids);
  /// Checks that train reads what was written. Returns what is wrong, or "".
  std::string finish();

  int64_t tokens() const { return total; }
  int64_t documents() const { return count; }
  /// "uint16", "uint32" or "int32".
  std::string type() const;
  const std::string &path() const { return file; }
  /// Returns the flags with which a run reads the file; "" if the file says it.
  std::string readingFlags() const;

private:
  enum class Format { Raw, Llmc, Megatron };

  std::string checkNames() const;
  std::string checkTokens();
  std::string writeHeaders();
  std::error_code writeIndex();
  std::string indexPath() const;
  std::string llmcHeader() const;
  std::string megatronHeader() const;
  /// Returns why train does not read a file as `dataFormat`, or "".
  std::string refusalOf(const std::string &path, const char *dataFormat) const;
  const char *dataFormat() const;

  Format format = Format::Raw;
  std::string file;
  int width = 2; ///< Bytes of a token.
  int64_t vocabulary = 0, total = 0, count = 0;
  bool isRegular = true, needsFormat = false;
  StreamedOutput content, index;
  std::string block; ///< One document's tokens.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENOUTPUT_H
