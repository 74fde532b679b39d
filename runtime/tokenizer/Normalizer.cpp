#include "runtime/tokenizer/Normalizer.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/UnicodeForm.h"
#include "runtime/tokenizer/Utf8.h"

#include <vector>

namespace tessera {

static std::unique_ptr<Normalizer> readNormalizerStep(const JsonView &part);

void Normalizer::apply(NormalText &text) const {
  change(text);
  if (check == Check::Nothing)
    return;
  text.limit.require(where, text.text.size());
  size_t valid = validPrefix(text.text);
  if (valid != text.text.size())
    fail(TSR_CORRUPT, where, " makes a text that is no UTF-8 from byte ", valid,
         " of ", text.text.size(), " on");
}

namespace {

class FormNormalizer final : public Normalizer {
public:
  FormNormalizer(const JsonView &part, const std::string &name)
      : Normalizer(part), form(name) {}
  void change(NormalText &text) const override {
    if (form.apply(text.text, text.scratch))
      text.take();
  }

private:
  UnicodeForm form;
};

class NormalizerSequence final : public Normalizer {
public:
  explicit NormalizerSequence(const JsonView &part)
      : Normalizer(part, Check::Nothing) {
    requireKeys(part, {"type", "normalizers"});
    for (const JsonView &item : part.at("normalizers").items())
      parts.push_back(readNormalizerStep(item));
  }
  void change(NormalText &text) const override {
    for (const auto &part : parts)
      if (!text.text.empty())
        part->apply(text);
  }

  void begin(size_t textBytes) const override {
    for (const auto &part : parts)
      part->begin(textBytes);
  }

private:
  std::vector<std::unique_ptr<Normalizer>> parts;
};

class Lowercase final : public Normalizer {
public:
  using Normalizer::Normalizer;
  void change(NormalText &text) const override {
    text.scratch.clear();
    for (size_t at = 0; at < text.text.size();)
      appendLowercase(text.scratch, nextCodePoint(text.text, at));
    text.take();
  }
};

class StripAccents final : public Normalizer {
public:
  using Normalizer::Normalizer;
  void change(NormalText &text) const override {
    text.scratch.clear();
    for (size_t at = 0; at < text.text.size();) {
      size_t begin = at;
      if (isCombiningMark(nextCodePoint(text.text, at)))
        text.isFirst &= begin != 0;
      else
        text.scratch.append(text.text, begin, at - begin);
    }
    text.take();
  }
};

class Strip final : public Normalizer {
public:
  explicit Strip(const JsonView &part) : Normalizer(part) {
    requireKeys(part, {"type", "strip_left", "strip_right"});
    left = part.at("strip_left").boolean();
    right = part.at("strip_right").boolean();
  }
  void change(NormalText &text) const override {
    const std::string &old = text.text;
    size_t begin = 0, end = old.size();
    for (size_t at = 0; left && at < end; begin = at)
      if (!isWhitespace(nextCodePoint(old, at)))
        break;
    for (size_t at = end; right && at > begin; end = at)
      if (!isWhitespace(previousCodePoint(old, at)))
        break;
    text.isFirst &= begin == 0;
    text.text = old.substr(begin, end - begin);
  }

private:
  bool left, right;
};

class Prepend final : public Normalizer {
public:
  explicit Prepend(const JsonView &part) : Normalizer(part) {
    requireKeys(part, {"type", "prepend"});
    prefix = part.at("prepend").text();
  }
  void change(NormalText &text) const override {
    text.limit.require(where, prefix.size() + text.text.size());
    text.text.insert(0, prefix);
  }

private:
  std::string prefix;
};

class Replace final : public Normalizer {
public:
  explicit Replace(const JsonView &part)
      : Normalizer(part), literal(patternOf(part)),
        pattern(compilePattern(part, literal)) {
    requireKeys(part, {"type", "pattern", "content"});
    content = part.at("content").text();
  }
  void change(NormalText &text) const override {
    text.scratch.clear();
    std::string_view old = text.text;
    size_t done = 0;
    visitMatches(old, [&](size_t begin, size_t end) {
      text.scratch.append(old, done, begin - done);
      text.limit.require(where, text.scratch.size() + content.size());
      text.scratch += content;
      done = end;
      if (begin == 0 && end > codePointBytes(old, 0))
        text.isFirst = false;
    });
    if (done == 0 && text.scratch.empty())
      return;
    text.scratch.append(old, done);
    text.take();
  }

  void begin(size_t textBytes) const override { pattern.begin(textBytes); }

private:
  template <class Visit>
  void visitMatches(std::string_view text, const Visit &visit) const {
    if (literal.isRegex || literal.text.empty())
      return pattern.forEachMatch(text, visit);
    size_t at = 0;
    while ((at = text.find(literal.text, at)) != std::string_view::npos) {
      visit(at, at + literal.text.size());
      at += literal.text.size();
    }
  }

  PatternText literal;
  Pattern pattern;
  std::string content;
};

/// The rules of sentencepiece's "nmt" besides those of NFKC.
class Nmt final : public Normalizer {
public:
  using Normalizer::Normalizer;
  void change(NormalText &text) const override {
    text.scratch.clear();
    for (size_t at = 0; at < text.text.size();) {
      size_t begin = at;
      char32_t c = nextCodePoint(text.text, at);
      if (isRemoved(c))
        text.isFirst &= begin != 0;
      else if (isSpace(c))
        text.scratch += ' ';
      else
        text.scratch.append(text.text, begin, at - begin);
    }
    text.take();
  }

private:
  static bool isRemoved(char32_t c) {
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
           c == 0x7F || c == 0x8F || c == 0x9F;
  }
  static bool isSpace(char32_t c) {
    return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
           (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
           c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  }
};

class ByteNormalizer final : public Normalizer {
public:
  using Normalizer::Normalizer;
  void change(NormalText &text) const override {
    text.scratch.clear();
    appendCharacters(text.scratch, text.text);
    text.take();
  }
};

} // namespace

/// Makes a normalizer without keys.
template <class Part>
static std::unique_ptr<Normalizer> plain(const JsonView &part) {
  requireKeys(part, {"type"});
  return std::make_unique<Part>(part);
}

static std::unique_ptr<Normalizer> readNormalizerStep(const JsonView &part) {
  std::string type = typeOf(part);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    requireKeys(part, {"type"});
    return std::make_unique<FormNormalizer>(part, type);
  }
  if (type == "Sequence")
    return std::make_unique<NormalizerSequence>(part);
  if (type == "Lowercase")
    return plain<Lowercase>(part);
  if (type == "StripAccents")
    return plain<StripAccents>(part);
  if (type == "Strip")
    return std::make_unique<Strip>(part);
  if (type == "Prepend")
    return std::make_unique<Prepend>(part);
  if (type == "Replace")
    return std::make_unique<Replace>(part);
  if (type == "Nmt")
    return plain<Nmt>(part);
  if (type == "ByteLevel")
    return plain<ByteNormalizer>(part);
  if (type == "BertNormalizer")
    return readBertNormalizer(part);
  if (type == "Precompiled")
    return readPrecompiled(part);
  refusePart(part, concat("is of type '", type,
                          "', which is no normalizer that is supported"));
}

std::unique_ptr<Normalizer> readNormalizer(const JsonView &part) {
  constexpr size_t most = 2048; // published files have less than 100
  requireFewValues(part, most);
  return readNormalizerStep(part);
}

} // namespace tessera
