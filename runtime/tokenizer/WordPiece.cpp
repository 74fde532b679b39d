//===- WordPiece.cpp - the longest token first ----------------------------===//
// Devlin et al. 2018 (bert/tokenization.py, WordpieceTokenizer).
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Trie.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/WordModel.h"

#include <algorithm>

namespace tessera {

namespace {
class WordPiece final : public Model {
public:
  explicit WordPiece(const JsonView &part) : Model(part) {
    requireKeys(part, {"type", "unk_token", "continuing_subword_prefix",
                       "max_input_chars_per_word", "vocab"});
    unknown = part.at("unk_token").text();
    prefix = part.at("continuing_subword_prefix").text();
    mostCharacters = part.at("max_input_chars_per_word").integer(0, INT32_MAX);
    readVocabulary(part.at("vocab"));
    std::vector<Trie::Entry> first, later;
    tokens.forEach([&](std::string_view text, int32_t id) {
      if (!text.empty())
        first.push_back({text, id});
      if (text.size() > prefix.size() &&
          text.compare(0, prefix.size(), prefix) == 0)
        later.push_back({text.substr(prefix.size()), id});
    });
    beginnings = Trie(std::move(first));
    continuations = Trie(std::move(later));
  }

private:
  void encodeNew(std::string_view word, Ids &ids) override {
    size_t before = ids.size();
    if (!hasTooMany(word) && addTokens(word, ids))
      return;
    ids.resize(before);
    int32_t id = tokens.find(unknown);
    if (id == TokenTable::none)
      fail(TSR_CORRUPT, where, " has no token for '", excerpt(word),
           "', and its unk_token '", excerpt(unknown),
           "' is not in the vocabulary");
    ids.push_back(id);
  }

  bool hasTooMany(std::string_view word) const {
    auto begins = [](char byte) { return (byte & 0xC0) != 0x80; };
    return std::count_if(word.begin(), word.end(), begins) > mostCharacters;
  }

  bool addTokens(std::string_view word, Ids &ids) {
    for (size_t begin = 0; begin < word.size();) {
      const Trie &trie = begin == 0 ? beginnings : continuations;
      size_t longest = 0;
      int32_t id = TokenTable::none;
      auto visit = [&](size_t bytes, int32_t value) {
        longest = bytes;
        id = value;
      };
      spend(trie.forEachPrefix(word.substr(begin), visit));
      if (longest == 0)
        return false;
      ids.push_back(id);
      begin += longest;
    }
    return true;
  }

  std::string unknown, prefix;
  int64_t mostCharacters;
  Trie beginnings;
  Trie continuations; ///< They have no prefix.
};
} // namespace

std::unique_ptr<Model> readWordPiece(const JsonView &part) {
  return std::make_unique<WordPiece>(part);
}

} // namespace tessera
