#include "runtime/tokenizer/UnknownRuns.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

namespace tessera {

/// One pass over a text.
class UnknownRuns::Scan {
public:
  Scan(const UnknownRuns &runs, std::string_view text, std::string &out)
      : runs(runs), text(text), out(out) {}

  bool run();

private:
  /// More of them are shortened to as many at either end: what stands beside a
  /// run may depend on those.
  static constexpr size_t longRun = 512, kept = 64;
  /// The square of it is copied.
  static constexpr size_t mostUnknown = 1 << 14;

  void step();
  void add(char32_t c, size_t bytes);
  void endInert(size_t end);
  size_t endAfter(size_t begin) const {
    return begin < text.size() ? begin + codePointBytes(text, begin) : begin;
  }

  const UnknownRuns &runs;
  std::string_view text;
  std::string &out;
  size_t at = 0, done = 0;
  size_t unknown = 0; ///< Bytes in a row, those to be left out not counted.
  size_t inert = 0;   ///< Characters in a row.
  struct {
    size_t begin, end;
  } head = {}; ///< The last character that is kept at the beginning.
};

bool UnknownRuns::Scan::run() {
  while (at < text.size())
    step();
  endInert(at);
  if (done == 0)
    return false;
  out.append(text, done);
  return true;
}

void UnknownRuns::Scan::step() {
  size_t begin = at, bytes = 0;
  std::string_view made;
  const CharacterMap *rules = runs.model.rules.get();
  if (rules &&
      rules->find(text.substr(at), CharacterMap::Rule::Longest, bytes, made)) {
    endInert(begin);
    at += bytes;
    for (size_t i = 0; i < made.size();) {
      size_t before = i;
      char32_t c = nextCodePoint(made, i);
      add(c, i - before);
    }
    return;
  }
  char32_t c = nextCodePoint(text, at);
  // A rule that begins with it would have to go on with the next character.
  bool isInert = !runs.isWithinPiece[c] &&
                 !runs.beginsRule(text.substr(begin, endAfter(at) - begin));
  if (!isInert) {
    endInert(begin);
    return add(c, at - begin);
  }
  if (++inert <= longRun)
    add(c, at - begin);
  if (inert == kept)
    head = {begin, at};
}

void UnknownRuns::Scan::add(char32_t c, size_t bytes) {
  unknown = runs.isPiece[c] ? 0 : unknown + bytes;
  if (unknown > mostUnknown)
    fail(TSR_UNSUPPORTED, runs.source, " has no pieces for more than ",
         mostUnknown, " bytes in a row, before byte ", at, " of a text of ",
         text.size(), "; use the tokenizer of another model");
}

void UnknownRuns::Scan::endInert(size_t end) {
  if (inert > longRun) {
    size_t tail = end;
    for (size_t i = 0; i < kept; ++i)
      previousCodePoint(text, tail);
    // The two that come to stand beside each other must be for no rule.
    std::string pair;
    do {
      previousCodePoint(text, tail);
      pair = text.substr(head.begin, head.end - head.begin);
      pair += text.substr(tail, endAfter(tail) - tail);
    } while (tail > head.end && runs.beginsRule(pair));
    out.append(text, done, head.end - done);
    done = tail;
  }
  inert = 0;
}

UnknownRuns::UnknownRuns(const SentencePieceModel &model,
                         const std::string &source)
    : model(model), source(source), isPiece(0x110000), isWithinPiece(0x110000) {
  for (const SentencePieceModel::Piece &piece : model.pieces)
    for (size_t at = 0; at < piece.text.size();) {
      size_t begin = at;
      char32_t c = nextCodePoint(piece.text, at);
      isWithinPiece[c] = true;
      if (piece.isUsed && at - begin == piece.text.size())
        isPiece[c] = true;
    }
  constexpr char32_t spaceMark = 0x2581;
  isWithinPiece[' '] = isWithinPiece[spaceMark] = true;
  isPiece[' '] = isPiece[' '] || isPiece[spaceMark];
}

std::string_view UnknownRuns::shorten(std::string_view text,
                                      std::string &storage) const {
  storage.clear();
  if (model.fallsBackToBytes)
    return text;
  return Scan(*this, text, storage).run() ? storage : text;
}

} // namespace tessera
