//===- Unigram.cpp - the most probable tokens of a word -------------------===//
// Kudo 2018, section 3.2; the best path as sentencepiece's
// unigram_model.cc (EncodeOptimized) finds it.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Trie.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/WordModel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {

namespace {

class Unigram final : public Model {
public:
  explicit Unigram(const JsonView &part);

private:
  /// The best way to the end of a token.
  struct Path {
    double score = 0;
    size_t begin = unreached;
    int32_t id = 0;
  };
  static constexpr size_t unreached = SIZE_MAX;
  static constexpr double unknownPenalty = 10;

  void readPieces(const JsonView &view);
  void encodeNew(std::string_view word, Ids &ids) override;
  void findPaths(std::string_view word);
  void reach(size_t begin, size_t end, double score, int32_t id);
  void addPiece(std::string_view piece, Ids &ids) const;
  [[noreturn]] void refuse(std::string_view piece) const;

  int32_t unknown = TokenTable::none;
  bool fallsBackToBytes;
  std::vector<double> scores; ///< Indexed by id.
  double smallest = 0;
  Trie trie;
  std::vector<Path> paths; ///< Indexed by their ends; kept from word to word.
  std::vector<std::pair<size_t, size_t>> pieces; ///< Begins and ends.
};

Unigram::Unigram(const JsonView &part) : Model(part) {
  requireKeys(part, {"type", "unk_id", "vocab", "byte_fallback"});
  fallsBackToBytes = flagOf(part, "byte_fallback", false);
  readPieces(part.at("vocab"));
  if (part.has("unk_id"))
    unknown = static_cast<int32_t>(
        part.at("unk_id").integer(0, static_cast<int64_t>(scores.size()) - 1));
}

/// Reads [["token", score], ..].
void Unigram::readPieces(const JsonView &view) {
  if (!view.raw().is_array() || view.raw().empty() ||
      view.raw().size() >= TokenTable::mostIds)
    view.refuse(concat("must be an array of 1 to ", TokenTable::mostIds,
                       " tokens with their scores"));
  smallest = std::numeric_limits<double>::infinity();
  std::vector<Trie::Entry> entries;
  for (const nlohmann::json &item : view.raw()) {
    bool isPiece = item.is_array() && item.size() == 2 && item[0].is_string() &&
                   item[1].is_number() && std::isfinite(item[1].get<double>());
    if (!isPiece)
      view.refuse(concat("has ", excerpt(item.dump()), " at ", scores.size(),
                         ", it must be a token and its score"));
    const std::string &text = item[0].get_ref<const std::string &>();
    auto id = static_cast<int32_t>(scores.size());
    tokens.add(text, id);
    scores.push_back(item[1].get<double>());
    smallest = std::min(smallest, scores.back());
    if (!text.empty())
      entries.push_back({text, id});
  }
  trie = Trie(std::move(entries));
}

void Unigram::reach(size_t begin, size_t end, double score, int32_t id) {
  double total = score + paths[begin].score;
  if (paths[end].begin == unreached || total > paths[end].score)
    paths[end] = {total, begin, id};
}

void Unigram::findPaths(std::string_view word) {
  paths.assign(word.size() + 1, Path());
  for (size_t begin = 0; begin < word.size();) {
    size_t character = codePointBytes(word, begin);
    bool isKnown = false;
    auto visit = [&](size_t bytes, int32_t id) {
      reach(begin, begin + bytes, scores[id], id);
      isKnown |= bytes == character;
    };
    spend(trie.forEachPrefix(word.substr(begin), visit));
    if (!isKnown && unknown == TokenTable::none)
      refuse(word.substr(begin, character));
    if (!isKnown)
      reach(begin, begin + character, smallest - unknownPenalty, unknown);
    begin += character;
  }
}

/// Unknown tokens beside each other become one.
void Unigram::encodeNew(std::string_view word, Ids &ids) {
  findPaths(word);
  pieces.clear();
  bool wasUnknown = false;
  for (size_t end = word.size(); end > 0; end = paths[end].begin) {
    bool isUnknown = unknown != TokenTable::none && paths[end].id == unknown;
    if (isUnknown && wasUnknown)
      pieces.back().first = paths[end].begin;
    else
      pieces.push_back({paths[end].begin, end});
    wasUnknown = isUnknown;
  }
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
    addPiece(word.substr(piece->first, piece->second - piece->first), ids);
}

void Unigram::addPiece(std::string_view piece, Ids &ids) const {
  int32_t id = tokens.find(piece);
  if (id != TokenTable::none)
    ids.push_back(id);
  else if (!fallsBackToBytes || !addByteTokens(piece, ids))
    ids.push_back(unknown);
}

void Unigram::refuse(std::string_view piece) const {
  fail(TSR_CORRUPT, where, " has no token for '", piece, "', and no unk_id");
}

} // namespace

std::unique_ptr<Model> readUnigram(const JsonView &part) {
  return std::make_unique<Unigram>(part);
}

} // namespace tessera
