//===- TokenStream.h - parts of files, joined and cut -----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DATA_TOKENSTREAM_H
#define TESSERA_RUNTIME_DATA_TOKENSTREAM_H

#include "runtime/data/TokenFile.h"

#include <vector>

namespace tessera {

/// Tokens of a file that lie after each other, and the documents that they are,
/// if the file says where documents begin.
struct FilePart {
  const TokenFile *file;
  int64_t begin, count;
  int64_t firstDocument, documents;
};

/// Splits a file into a part for training and, at its end, a part that is held
/// out: the `fraction` of its tokens, rounded to the nearest begin of a
/// document if the file says where documents begin.
struct SplitFile {
  SplitFile(const TokenFile &file, double fraction);

  FilePart training, validation;
};

/// Sequences are cut so that each has `columns` tokens and begins `stride`
/// tokens after the one before.
struct SequenceShape {
  int64_t columns, stride;
};

/// Parts of files joined to one stream, cut into sequences.
class TokenStream {
public:
  TokenStream(const std::vector<FilePart> &parts, SequenceShape shape);

  int64_t tokens() const { return total; }
  /// Returns the number of sequences; 0: it is shorter than one.
  int64_t sequences() const {
    return total < shape.columns ? 0
                                 : (total - shape.columns) / shape.stride + 1;
  }
  /// Reads a sequence into out[columns]. TSR_IO; TSR_INVALID_ARGUMENT names the
  /// first token outside of the vocabulary.
  void read(int64_t sequence, int32_t *out) const;

private:
  struct Piece {
    FilePart part;
    int64_t first; ///< Position of its first token in the stream.
  };
  SequenceShape shape;
  std::vector<Piece> pieces; ///< None is empty.
  int64_t total = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_TOKENSTREAM_H
