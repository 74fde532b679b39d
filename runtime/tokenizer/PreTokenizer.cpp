#include "runtime/tokenizer/PreTokenizer.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Splitter.h"
#include "runtime/tokenizer/Utf8.h"

namespace tessera {

MatchFate readMatchFate(const JsonView &view) {
  static constexpr struct {
    const char *name;
    MatchFate fate;
  } fates[] = {{"Removed", MatchFate::Removed},
               {"Isolated", MatchFate::Isolated},
               {"MergedWithPrevious", MatchFate::MergedWithPrevious},
               {"MergedWithNext", MatchFate::MergedWithNext},
               {"Contiguous", MatchFate::Contiguous}};
  for (const auto &known : fates)
    if (view.text() == known.name)
      return known.fate;
  refusePart(view, concat("is '", view.text(),
                          "', supported are Removed, Isolated, "
                          "MergedWithPrevious, MergedWithNext and Contiguous"));
}

MetaspaceOptions::MetaspaceOptions(const JsonView &part) {
  requireKeys(part, {"type", "replacement", "prepend_scheme", "split",
                     "add_prefix_space", "str_rep"});
  replacement = characterOf(part, "replacement");
  splits = flagOf(part, "split", true);
  bool addsPrefix = flagOf(part, "add_prefix_space", true);
  std::string scheme =
      textOf(part, "prepend_scheme", addsPrefix ? "always" : "never");
  prepend = scheme == "first"   ? Prepend::First
            : scheme == "never" ? Prepend::Never
                                : Prepend::Always;
  if (prepend == Prepend::Always && scheme != "always")
    refusePart(part, concat("has the prepend_scheme '", scheme,
                            "', supported are first, never and always"));
  if (!addsPrefix && prepend != Prepend::Never)
    part.refuse(concat("has add_prefix_space false and prepend_scheme '",
                       scheme, "', which contradict each other"));
}

namespace {

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

class PrefixSpace final : public PreTokenizer {
public:
  void apply(const Piece &piece, Pieces &out, TextArena &arena) const override {
    Piece longer = piece;
    if (piece.text[0] != ' ')
      longer.text = arena.join(" ", piece.text);
    out.push_back(longer);
  }
};

class ByteStep final : public PreTokenizer {
public:
  void apply(const Piece &piece, Pieces &out, TextArena &arena) const override {
    std::string characters;
    appendCharacters(characters, piece.text);
    Piece mapped = piece;
    mapped.text = arena.join(characters, "");
    out.push_back(mapped);
  }
};

//===----------------------------------------------------------------------===//
// Expressions and classes
//===----------------------------------------------------------------------===//

class PatternSplit final : public PreTokenizer {
public:
  PatternSplit(Pattern pattern, MatchFate fate, bool isInverted)
      : pattern(std::move(pattern)), fate(fate), isInverted(isInverted) {}

  void apply(const Piece &piece, Pieces &out, TextArena &) const override {
    Splitter splitter(piece, fate, out);
    if (isInverted) {
      pattern.forEachMatch(piece.text, [&](size_t begin, size_t end) {
        splitter.invertedMatch(begin, end);
      });
      splitter.finishInverted();
      return;
    }
    pattern.forEachMatch(piece.text, [&](size_t begin, size_t end) {
      splitter.match(begin, end);
    });
    splitter.finish();
  }
  void begin(size_t textBytes) const override { pattern.begin(textBytes); }

private:
  Pattern pattern;
  MatchFate fate;
  bool isInverted;
};

class ClassSplit final : public PreTokenizer {
public:
  ClassSplit(CharacterClass isMatch, MatchFate fate)
      : isMatch(isMatch), fate(fate) {}

  void apply(const Piece &piece, Pieces &out, TextArena &) const override {
    Splitter splitter(piece, fate, out);
    for (size_t at = 0; at < piece.text.size();) {
      size_t begin = at;
      if (isMatch(nextCodePoint(piece.text, at)))
        splitter.match(begin, at);
    }
    splitter.finish();
  }

private:
  CharacterClass isMatch;
  MatchFate fate;
};

/// One character.
class DelimiterSplit final : public PreTokenizer {
public:
  DelimiterSplit(std::string delimiter, MatchFate fate)
      : delimiter(std::move(delimiter)), fate(fate) {}

  void apply(const Piece &piece, Pieces &out, TextArena &) const override {
    Splitter splitter(piece, fate, out);
    size_t at = 0;
    while ((at = piece.text.find(delimiter, at)) != std::string_view::npos) {
      splitter.match(at, at + delimiter.size());
      at += delimiter.size();
    }
    splitter.finish();
  }

private:
  std::string delimiter;
  MatchFate fate;
};

class Metaspace final : public PreTokenizer {
public:
  explicit Metaspace(const JsonView &part)
      : options(part), split(options.replacement, MatchFate::MergedWithNext) {}

  void apply(const Piece &piece, Pieces &out, TextArena &arena) const override {
    using Prepend = MetaspaceOptions::Prepend;
    const std::string &mark = options.replacement;
    std::string text;
    bool isMarked =
        piece.text[0] == ' ' || piece.text.compare(0, mark.size(), mark) == 0;
    if (!isMarked && (options.prepend == Prepend::Always ||
                      (options.prepend == Prepend::First && piece.isFirst)))
      text = mark;
    for (size_t at = 0; at < piece.text.size();) {
      size_t space = std::min(piece.text.find(' ', at), piece.text.size());
      text.append(piece.text, at, space - at);
      if (space < piece.text.size())
        text += mark;
      at = space + 1;
    }
    Piece marked = piece;
    marked.text = arena.join(text, "");
    if (options.splits)
      split.apply(marked, out, arena);
    else
      out.push_back(marked);
  }

private:
  MetaspaceOptions options;
  DelimiterSplit split;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

class Reader {
public:
  void read(const JsonView &part);
  PreTokenizers finish() {
    if (!isByteStep.empty() && isByteStep.back()) {
      result.steps.pop_back();
      result.places.pop_back();
      result.endsInBytes = true;
    }
    return std::move(result);
  }

private:
  void add(std::unique_ptr<PreTokenizer> step, bool isOfBytes = false) {
    result.steps.push_back(std::move(step));
    result.places.push_back(place);
    isByteStep.push_back(isOfBytes);
  }
  void addClass(CharacterClass isMatch, MatchFate fate) {
    add(std::make_unique<ClassSplit>(isMatch, fate));
  }
  void addPattern(const char *expression, MatchFate fate, bool isInverted) {
    add(std::make_unique<PatternSplit>(Pattern::ofPcre2(expression), fate,
                                       isInverted));
  }
  void readBytes(const JsonView &part);
  void readSplit(const JsonView &part);
  bool readWords(const std::string &type, const JsonView &part);

  PreTokenizers result;
  std::string place; ///< The place of the part that is read.
  std::vector<bool> isByteStep;
};

/// Splits like GPT-2's encoder.py.
constexpr const char *gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void Reader::readBytes(const JsonView &part) {
  requireKeys(part, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (part.at("add_prefix_space").boolean())
    add(std::make_unique<PrefixSpace>());
  if (flagOf(part, "use_regex", true))
    add(std::make_unique<PatternSplit>(Pattern(gpt2Pattern, part.where()),
                                       MatchFate::Isolated, false));
  add(makeByteStep(), true);
}

void Reader::readSplit(const JsonView &part) {
  requireKeys(part, {"type", "pattern", "behavior", "invert"});
  add(std::make_unique<PatternSplit>(compilePattern(part, patternOf(part)),
                                     readMatchFate(part.at("behavior")),
                                     flagOf(part, "invert", false)));
}

/// Types without a part of their own.
bool Reader::readWords(const std::string &type, const JsonView &part) {
  if (type == "BertPreTokenizer" || type == "WhitespaceSplit") {
    requireKeys(part, {"type"});
    addClass(isWhitespace, MatchFate::Removed);
    if (type == "BertPreTokenizer")
      addClass(isPunctuation, MatchFate::Isolated);
  } else if (type == "Whitespace") {
    requireKeys(part, {"type"});
    std::string word = concat("\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
                              "\\x{200c}\\x{200d}");
    addPattern(concat("[", word, "]+|[^", word, patternSpaces, "]+").c_str(),
               MatchFate::Removed, true);
  } else if (type == "Digits") {
    requireKeys(part, {"type", "individual_digits"});
    addClass(isNumber, part.at("individual_digits").boolean()
                           ? MatchFate::Isolated
                           : MatchFate::Contiguous);
  } else if (type == "Punctuation") {
    requireKeys(part, {"type", "behavior"});
    addClass(isPunctuation, part.has("behavior")
                                ? readMatchFate(part.at("behavior"))
                                : MatchFate::Isolated);
  } else if (type == "CharDelimiterSplit") {
    requireKeys(part, {"type", "delimiter"});
    add(std::make_unique<DelimiterSplit>(characterOf(part, "delimiter"),
                                         MatchFate::Removed));
  } else
    return false;
  return true;
}

void Reader::read(const JsonView &part) {
  std::string type = typeOf(part);
  place = part.where();
  if (type == "Sequence") {
    requireKeys(part, {"type", "pretokenizers"});
    for (const JsonView &item : part.at("pretokenizers").items())
      read(item);
  } else if (type == "ByteLevel")
    readBytes(part);
  else if (type == "Split")
    readSplit(part);
  else if (type == "Metaspace")
    add(std::make_unique<Metaspace>(part));
  else if (!readWords(type, part))
    refusePart(part, concat("is of type '", type,
                            "', which is no pre-tokenizer that is supported"));
}

} // namespace

/// Published files have less than 100.
static constexpr size_t mostSplittingValues = 2048;

std::unique_ptr<PreTokenizer> makeByteStep() {
  return std::make_unique<ByteStep>();
}

PreTokenizers readPreTokenizers(const JsonView &part) {
  requireFewValues(part, mostSplittingValues);
  Reader reader;
  reader.read(part);
  return reader.finish();
}

} // namespace tessera
