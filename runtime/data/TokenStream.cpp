//===- TokenStream.cpp - parts of files, joined and cut -------------------===//
#include "runtime/data/TokenStream.h"

#include <algorithm>
#include <cmath>

namespace tessera {

SplitFile::SplitFile(const TokenFile &file, double fraction) {
  int64_t count = file.count();
  int64_t cut = count - std::llround(fraction * static_cast<double>(count));
  int64_t documents = 0, before = 0;
  if (const MegatronIndex *index = file.index()) {
    documents = before = index->documents();
    if (fraction > 0) {
      before = index->nearest(cut);
      cut = index->begin(before);
    }
  }
  training = {&file, 0, cut, 0, before};
  validation = {&file, cut, count - cut, before, documents - before};
}

TokenStream::TokenStream(const std::vector<FilePart> &parts,
                         SequenceShape shape)
    : shape(shape) {
  for (const FilePart &part : parts) {
    if (part.count == 0)
      continue;
    pieces.push_back({part, total});
    total += part.count;
  }
}

void TokenStream::read(int64_t sequence, int32_t *out) const {
  int64_t first = sequence * shape.stride, count = shape.columns;
  auto after = [](int64_t position, const Piece &piece) {
    return position < piece.first;
  };
  auto piece = std::upper_bound(pieces.begin(), pieces.end(), first, after) - 1;
  for (; count != 0; ++piece) {
    int64_t position = first - piece->first;
    int64_t length = std::min(count, piece->part.count - position);
    piece->part.file->read(piece->part.begin + position, length, out);
    first += length;
    count -= length;
    out += length;
  }
}

} // namespace tessera
