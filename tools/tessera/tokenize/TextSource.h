//===- TextSource.h - the text of a file, block by block --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_TEXTSOURCE_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_TEXTSOURCE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tessera {

/// Reads a file, or the standard input ("-"), which must be UTF-8 without
/// bytes of 0. An error says what the file is instead, and where: a run would
/// train on other tokens than the text's. A byte order mark is skipped.
class TextSource {
public:
  explicit TextSource(const std::string &path) : path(path) {}
  TextSource(const TextSource &) = delete;
  ~TextSource();

  /// Returns what is wrong, or "".
  std::string open();
  /// Sets the next block, of whole characters; it is empty at the end. Returns
  /// what is wrong, or "".
  std::string read(llvm::StringRef &block);
  /// "'a.txt'", or "standard input".
  std::string name() const;

private:
  std::string fill();
  std::string check(size_t &whole) const;
  std::string wrongAt(size_t at) const;
  std::string otherEncoding() const;

  const std::string &path;
  int file = -1;
  bool isAtEnd = false;
  std::string held; ///< A block, and what was left of the one before.
  size_t given = 0; ///< Bytes of `held` in the last block.
  std::string head; ///< The first bytes of the file.
  int64_t offset = 0, line = 1; ///< The begin of `held` in the file.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_TEXTSOURCE_H
