//===- Splitter.h - what becomes of matches in a piece ----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_SPLITTER_H
#define TESSERA_RUNTIME_TOKENIZER_SPLITTER_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/Pieces.h"

namespace tessera {

/// `tokenizers` calls it SplitDelimiterBehavior.
enum class MatchFate {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

MatchFate readMatchFate(const JsonView &view);

/// Cuts one piece. Matches are told in order; what is between them is added by
/// itself. Empty parts are left out.
class Splitter {
public:
  Splitter(const Piece &piece, MatchFate fate, Pieces &out)
      : piece(piece), fate(fate), out(out) {}

  void match(size_t begin, size_t end) {
    between(begin);
    add(begin, end, true);
    done = end;
  }
  /// Adds the parts between the matches as `match` adds those that match.
  void invertedMatch(size_t begin, size_t end) {
    if (begin != done)
      add(done, begin, true);
    add(begin, end, false);
    done = end;
  }
  void finish() {
    between(piece.text.size());
    emit();
  }
  void finishInverted() {
    if (done != piece.text.size())
      add(done, piece.text.size(), true);
    emit();
  }

private:
  void between(size_t begin) {
    if (begin != done)
      add(done, begin, false);
  }
  /// Returns whether a part belongs to the one that is held.
  bool joins(bool isMatch) const {
    switch (fate) {
    case MatchFate::Contiguous:
      return isMatch == heldIsMatch;
    case MatchFate::MergedWithPrevious:
      return isMatch && !heldIsMatch;
    case MatchFate::MergedWithNext:
      return !isMatch && heldIsMatch;
    default:
      return false;
    }
  }
  void add(size_t begin, size_t end, bool isMatch) {
    if (isMatch && fate == MatchFate::Removed)
      return;
    if (!isHeld || !joins(isMatch)) {
      emit();
      heldBegin = begin;
    }
    heldEnd = end;
    heldIsMatch = isMatch;
    isHeld = true;
  }
  void emit() {
    if (isHeld && heldBegin != heldEnd)
      out.push_back(piece.part(heldBegin, heldEnd));
  }

  const Piece &piece;
  MatchFate fate;
  Pieces &out;
  size_t done = 0, heldBegin = 0, heldEnd = 0;
  bool isHeld = false, heldIsMatch = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_SPLITTER_H
