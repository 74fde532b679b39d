//===- WordPiece.cpp - the longest token first ----------------------------===//
// Devlin et al. 2018 (bert/tokenization.py, WordpieceTokenizer).
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/WordModel.h"

#include <algorithm>

namespace tessera {

namespace {
class WordPiece final : public Model {
public:
  explicit WordPiece(const JsonView &part) : where(part.where()) {
    requireKeys(part, {"type", "unk_token", "continuing_subword_prefix",
                       "max_input_chars_per_word", "vocab"});
    unknown = part.at("unk_token").text();
    prefix = part.at("continuing_subword_prefix").text();
    mostCharacters = part.at("max_input_chars_per_word").integer(0, INT32_MAX);
    readVocabulary(part.at("vocab"));
    tokens.forEach([&](std::string_view text, int32_t) {
      longest = std::max(longest, text.size());
    });
  }

private:
  void encodeNew(std::string_view word, Ids &ids) override {
    size_t before = ids.size();
    if (!hasTooMany(word) && addTokens(word, ids))
      return;
    ids.resize(before);
    int32_t id = tokens.find(unknown);
    if (id == TokenTable::none)
      fail(TSR_CORRUPT, where, " has no token for '", word,
           "', and its unk_token '", unknown, "' is not in the vocabulary");
    ids.push_back(id);
  }

  bool hasTooMany(std::string_view word) const {
    auto begins = [](char byte) { return (byte & 0xC0) != 0x80; };
    return std::count_if(word.begin(), word.end(), begins) > mostCharacters;
  }

  bool addTokens(std::string_view word, Ids &ids) const {
    std::string text;
    for (size_t begin = 0; begin < word.size();) {
      text.assign(begin == 0 ? "" : prefix);
      size_t head = text.size();
      size_t end = std::min(word.size(), begin + longest);
      while (end < word.size() && (word[end] & 0xC0) == 0x80)
        ++end;
      text += word.substr(begin, end - begin);
      int32_t id;
      while ((id = tokens.find(text)) == TokenTable::none) {
        previousCodePoint(word, end);
        if (end == begin)
          return false;
        text.resize(head + end - begin);
      }
      ids.push_back(id);
      begin = end;
    }
    return true;
  }

  std::string where, unknown, prefix;
  int64_t mostCharacters;
  size_t longest = 0; ///< Bytes of a token.
};
} // namespace

std::unique_ptr<Model> readWordPiece(const JsonView &part) {
  return std::make_unique<WordPiece>(part);
}

} // namespace tessera
