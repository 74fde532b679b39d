//===- MegatronIndex.h - documents of Megatron's data -----------*- C++ -*-===//
// The `.idx` file beside the `.bin` file says which type tokens have and where
// documents begin. All of it is checked when it is opened; afterwards it is
// read where it is asked, so that its length costs no memory.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_MEGATRONINDEX_H
#define TESSERA_RUNTIME_DATA_MEGATRONINDEX_H

#include "runtime/support/File.h"

#include <string_view>

namespace tessera {

class MegatronIndex {
public:
  /// Returns whether a file that begins so is an index, or was one before it
  /// was torn.
  static bool isIndex(std::string_view head);
  static bool isTornIndex(std::string_view head);

  /// `path` must be the index of the file `tokens`. TSR_NOT_FOUND, TSR_IO;
  /// TSR_CORRUPT: it is torn, or of another file; TSR_INVALID_ARGUMENT: it is
  /// of numbers that are no tokens.
  MegatronIndex(const std::string &path, const InputFile &tokens);

  const std::string &path() const { return file.path(); }
  /// Bytes of a token, and whether its first bit is a sign.
  int64_t width() const { return tokenBytes; }
  bool isSigned() const { return hasSign; }
  int64_t tokens() const { return total; }
  int64_t documents() const { return last; }
  const InputFile &content() const { return file; }
  /// Returns the first token of a document; of `documents()`: tokens().
  int64_t begin(int64_t document) const;
  /// Returns the document that begins nearest to a token, of several the
  /// earliest one. documents() counts: the end of the data.
  int64_t nearest(int64_t token) const;

private:
  template <class Integer> class Column;

  void readHeader();
  void readType();
  /// Return where the lengths of sequences, their begins and documents are.
  uint64_t lengthsAt() const;
  uint64_t beginsAt() const;
  uint64_t documentsAt() const;
  int64_t firstFrom(int64_t token) const;
  void checkSequences(const InputFile &tokens);
  void checkDocuments() const;

  InputFile file;
  int64_t tokenBytes = 0, sequences = 0, last = 0, total = 0;
  bool hasSign = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_MEGATRONINDEX_H
