//===- BertNormalizer.cpp - BERT's cleaning of texts ----------------------===//
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/UnicodeForm.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace tessera {

namespace {
class BertNormalizer final : public Normalizer {
public:
  explicit BertNormalizer(const JsonView &part)
      : Normalizer(part), decomposed("NFD") {
    requireKeys(part, {"type", "clean_text", "handle_chinese_chars",
                       "strip_accents", "lowercase"});
    cleans = part.at("clean_text").boolean();
    spacesIdeographs = part.at("handle_chinese_chars").boolean();
    lowers = part.at("lowercase").boolean();
    stripsAccents = flagOf(part, "strip_accents", lowers);
  }

  void change(NormalText &text) const override {
    clean(text);
    if (stripsAccents)
      stripAccents(text);
    if (lowers)
      lower(text);
  }

private:
  void clean(NormalText &text) const {
    text.scratch.clear();
    for (size_t at = 0; at < text.text.size();) {
      size_t begin = at;
      char32_t c = nextCodePoint(text.text, at);
      if (cleans && isRemovedByBert(c))
        text.isFirst &= begin != 0;
      else if (cleans && isWhitespace(c))
        text.scratch += ' ';
      else if (spacesIdeographs && isIdeographOfBert(c))
        text.scratch.append(" ").append(text.text, begin, at - begin) += ' ';
      else
        text.scratch.append(text.text, begin, at - begin);
    }
    text.take();
  }
  void stripAccents(NormalText &text) const {
    if (std::all_of(text.text.begin(), text.text.end(), isAscii))
      return;
    if (decomposed.apply(text.text, text.scratch))
      text.take();
    text.scratch.clear();
    for (size_t at = 0; at < text.text.size();) {
      size_t begin = at;
      if (isAccentOfBert(nextCodePoint(text.text, at)))
        text.isFirst &= begin != 0;
      else
        text.scratch.append(text.text, begin, at - begin);
    }
    text.take();
  }
  static void lower(NormalText &text) {
    text.scratch.clear();
    for (size_t at = 0; at < text.text.size();)
      appendLowercase(text.scratch, nextCodePoint(text.text, at));
    text.take();
  }

  UnicodeForm decomposed;
  bool cleans, spacesIdeographs, stripsAccents, lowers;
};
} // namespace

std::unique_ptr<Normalizer> readBertNormalizer(const JsonView &part) {
  return std::make_unique<BertNormalizer>(part);
}

} // namespace tessera
