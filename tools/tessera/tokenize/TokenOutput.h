//===- TokenOutput.h - files of tokens that train reads ---------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENOUTPUT_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENOUTPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Documents of tokens, kept in memory as they will lie in the file: nothing is
/// written before the last of them is known to be good.
class TokenOutput {
public:
  /// `format` as users name it, for ids below `vocabulary`. What is wrong, or
  /// "".
  std::string open(const std::string &path, const std::string &format,
                   int64_t vocabulary);
  /// Ids are below the vocabulary. What is wrong, or "".
  std::string addDocument(llvm::ArrayRef<int32_t> ids);
  /// What is wrong, or "".
  std::string write();

  int64_t tokens() const { return total; }
  int64_t documents() const { return static_cast<int64_t>(lengths.size()); }
  /// "uint16", "uint32" or "int32".
  std::string type() const;
  const std::string &path() const { return file; }
  /// What a run must be told to read it; "" if the file says it.
  std::string readingFlags() const;

private:
  enum class Format { Raw, Llmc, Megatron };

  std::string checkNames() const;
  std::string indexPath() const;
  std::string llmcHeader() const;
  std::string megatronIndex() const;

  Format format = Format::Raw;
  std::string file;
  int width = 2; ///< Bytes of a token.
  int64_t total = 0;
  std::vector<std::string> blocks;
  std::vector<int32_t> lengths;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_TOKENOUTPUT_H
