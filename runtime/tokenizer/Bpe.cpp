//===- Bpe.cpp - byte-pair encoding ---------------------------------------===//
// Sennrich et al. 2016, section 3.2: of a word's symbols the pair that was
// learned first is joined, the leftmost one of several, until none is left that
// was learned.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/PairTable.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/WordModel.h"

#include <algorithm>
#include <array>
#include <queue>

namespace tessera {

namespace {

struct Merge {
  uint32_t rank;
  int32_t id; ///< The joined token.
};

/// The learned merges, applied to a word.
class Merger {
public:
  Merger() = default;
  explicit Merger(size_t count) : merges(count) {}

  void add(int32_t left, int32_t right, Merge merge) {
    merges.set(static_cast<uint32_t>(left), static_cast<uint32_t>(right),
               merge);
  }
  /// Joins symbols from `first` to the end.
  void apply(Ids &symbols, size_t first) {
    if (symbols.size() - first > mostInRow)
      applyToLong(symbols, first);
    else
      applyToShort(symbols, first);
  }

private:
  static constexpr size_t mostInRow = 48;
  static constexpr uint32_t noRank = UINT32_MAX;
  struct Node {
    int32_t symbol;
    int32_t previous, next; ///< -1: none.
  };

  Merge find(int32_t left, int32_t right) const {
    const Merge *merge =
        merges.find(static_cast<uint32_t>(left), static_cast<uint32_t>(right));
    return merge ? *merge : Merge{noRank, 0};
  }
  void applyToShort(Ids &symbols, size_t first) const;
  void applyToLong(Ids &symbols, size_t first);
  void push(int32_t at);

  PairTable<Merge> merges;
  std::vector<Node> nodes;
  /// Rank and place of a pair; those that are no longer are passed over.
  std::vector<uint64_t> heap;
};

/// Looks through all pairs each time, which is quick where they are few.
void Merger::applyToShort(Ids &symbols, size_t first) const {
  int32_t *word = symbols.data() + first;
  size_t count = symbols.size() - first;
  Merge pairs[mostInRow];
  for (size_t i = 0; i + 1 < count; ++i)
    pairs[i] = find(word[i], word[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i)
      if (pairs[i].rank < pairs[best].rank)
        best = i;
    if (pairs[best].rank == noRank)
      break;
    word[best] = pairs[best].id;
    std::copy(word + best + 2, word + count, word + best + 1);
    if (best + 2 < count)
      std::copy(pairs + best + 2, pairs + count - 1, pairs + best + 1);
    --count;
    if (best + 1 < count)
      pairs[best] = find(word[best], word[best + 1]);
    if (best > 0)
      pairs[best - 1] = find(word[best - 1], word[best]);
  }
  symbols.resize(first + count);
}

void Merger::push(int32_t at) {
  if (at < 0 || nodes[at].next < 0)
    return;
  Merge merge = find(nodes[at].symbol, nodes[nodes[at].next].symbol);
  if (merge.rank == noRank)
    return;
  heap.push_back(uint64_t(merge.rank) << 32 | static_cast<uint32_t>(at));
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

void Merger::applyToLong(Ids &symbols, size_t first) {
  auto count = static_cast<int32_t>(symbols.size() - first);
  nodes.clear();
  heap.clear();
  for (int32_t i = 0; i < count; ++i)
    nodes.push_back({symbols[first + i], i - 1, i + 1 < count ? i + 1 : -1});
  for (int32_t i = 0; i < count; ++i)
    push(i);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    uint64_t top = heap.back();
    heap.pop_back();
    auto at = static_cast<int32_t>(static_cast<uint32_t>(top));
    Node &left = nodes[at];
    if (left.symbol < 0 || left.next < 0)
      continue;
    Node &right = nodes[left.next];
    Merge merge = find(left.symbol, right.symbol);
    if (merge.rank != top >> 32)
      continue;
    left.symbol = merge.id;
    right.symbol = -1;
    left.next = right.next;
    if (left.next >= 0)
      nodes[left.next].previous = at;
    push(left.previous);
    push(at);
  }
  symbols.resize(first);
  for (int32_t at = 0; at >= 0; at = nodes[at].next)
    symbols.push_back(nodes[at].symbol);
}

//===----------------------------------------------------------------------===//
// Bpe
//===----------------------------------------------------------------------===//

class Bpe final : public Model {
public:
  explicit Bpe(const JsonView &part);
  bool use(WordForm form) override;
  void encode(std::string_view piece, Ids &ids) override;

private:
  void encodeNew(std::string_view word, Ids &ids) override;
  void readMerges(const JsonView &view);
  bool readMerge(const nlohmann::json &merge, std::string &left,
                 std::string &right) const;
  void addSymbols(std::string_view word, Ids &ids);
  int32_t unknownId(std::string_view symbol) const;
  int32_t idOfCharacter(std::string_view word, size_t begin, size_t end) const;

  std::string unknown, prefix, suffix;
  bool hasUnknown = false, fusesUnknown = false, fallsBackToBytes = false;
  bool takesWholeWords = false;
  Merger merger;
  WordForm form = WordForm::Text;

  // These are for words that are bytes.
  std::array<int32_t, 256> byteIds;
  TokenTable wholeWords; ///< Tokens by the bytes of whole words.

  // These are for words that are texts.
  static constexpr char32_t plane = 0x10000;
  std::vector<int32_t> characterIds; ///< Ids in the first plane.
  /// Characters that some merge has on both sides of its joint. A text may be
  /// cut between any others: nothing is ever joined there.
  PairTable<bool> joints;
};

Bpe::Bpe(const JsonView &part) : Model(part) {
  requireKeys(part,
              {"type", "dropout", "unk_token", "continuing_subword_prefix",
               "end_of_word_suffix", "fuse_unk", "byte_fallback",
               "ignore_merges", "vocab", "merges"});
  if (part.has("dropout") && part.at("dropout").number() != 0)
    refusePart(part, "has a dropout, which makes random tokens");
  hasUnknown = part.has("unk_token");
  unknown = textOf(part, "unk_token", "");
  prefix = textOf(part, "continuing_subword_prefix", "");
  suffix = textOf(part, "end_of_word_suffix", "");
  fusesUnknown = flagOf(part, "fuse_unk", false);
  fallsBackToBytes = flagOf(part, "byte_fallback", false);
  takesWholeWords = flagOf(part, "ignore_merges", false);
  readVocabulary(part.at("vocab"));
  readMerges(part.at("merges"));
  characterIds.assign(plane, TokenTable::none);
  tokens.forEach([&](std::string_view text, int32_t id) {
    size_t end = 0;
    char32_t c = text.empty() ? plane : nextCodePoint(text, end);
    if (c < plane && end == text.size())
      characterIds[c] = id;
  });
}

/// Reads "left right", or both in a list.
bool Bpe::readMerge(const nlohmann::json &merge, std::string &left,
                    std::string &right) const {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
      merge[1].is_string()) {
    left = merge[0].get_ref<const std::string &>();
    right = merge[1].get_ref<const std::string &>();
    return true;
  }
  if (!merge.is_string())
    return false;
  const std::string &text = merge.get_ref<const std::string &>();
  size_t space = text.find(' ');
  if (space == std::string::npos || space != text.rfind(' '))
    return false;
  left = text.substr(0, space);
  right = text.substr(space + 1);
  return true;
}

void Bpe::readMerges(const JsonView &view) {
  if (!view.raw().is_array())
    view.refuse("must be an array");
  merger = Merger(view.raw().size());
  joints = PairTable<bool>(view.raw().size());
  uint32_t rank = 0;
  std::string left, right;
  for (const nlohmann::json &merge : view.raw()) {
    if (merge.is_string() &&
        merge.get_ref<const std::string &>().rfind("#version", 0) == 0)
      continue; // the first line of a merges.txt
    if (!readMerge(merge, left, right))
      view.refuse(concat("has ", excerpt(merge.dump()), " at ", rank,
                         ", merges are of two tokens"));
    if (right.size() < prefix.size())
      view.refuse(concat("joins '", excerpt(right),
                         "', which lacks the prefix '", excerpt(prefix), "'"));
    std::string joined = left + right.substr(prefix.size());
    for (const std::string &token : {left, right, joined})
      if (token.empty() || tokens.find(token) == TokenTable::none)
        view.refuse(concat("joins '", excerpt(left), "' and '", excerpt(right),
                           "', but the vocabulary has no '", excerpt(token),
                           "'"));
    merger.add(tokens.find(left), tokens.find(right),
               {rank++, tokens.find(joined)});
    size_t end = left.size(), begin = 0;
    char32_t before = previousCodePoint(left, end);
    joints.set(before, nextCodePoint(right, begin), true);
  }
}

bool Bpe::use(WordForm wanted) {
  form = wanted;
  if (form == WordForm::Text)
    return true;
  bool hasAll = prefix.empty() && suffix.empty();
  for (int byte = 0; byte < 256; ++byte) {
    byteIds[byte] =
        tokens.find(characterOfByte(static_cast<unsigned char>(byte)));
    hasAll &= byteIds[byte] != TokenTable::none;
  }
  std::string bytes;
  if (takesWholeWords)
    tokens.forEach([&](std::string_view text, int32_t id) {
      bytes.clear();
      if (appendBytes(bytes, text))
        wholeWords.add(bytes, id);
    });
  return hasAll;
}

/// A piece of text may be a document: it is cut where no merge can join.
void Bpe::encode(std::string_view piece, Ids &ids) {
  bool isWhole = form == WordForm::Bytes || takesWholeWords ||
                 !prefix.empty() || !suffix.empty();
  if (isWhole)
    return encodeWord(piece, ids);
  size_t begin = 0, at = 0;
  char32_t previous = 0;
  bool wasKnown = false;
  while (at < piece.size()) {
    size_t here = at;
    char32_t c = nextCodePoint(piece, at);
    bool isKnown = idOfCharacter(piece, here, at) != TokenTable::none;
    if (here > begin && isKnown && wasKnown && !joints.find(previous, c)) {
      encodeWord(piece.substr(begin, here - begin), ids);
      begin = here;
    }
    previous = c;
    wasKnown = isKnown;
  }
  encodeWord(piece.substr(begin), ids);
}

int32_t Bpe::idOfCharacter(std::string_view word, size_t begin,
                           size_t end) const {
  size_t at = begin;
  char32_t c = nextCodePoint(word, at);
  return c < plane ? characterIds[c]
                   : tokens.find(word.substr(begin, end - begin));
}

void Bpe::encodeNew(std::string_view word, Ids &ids) {
  if (takesWholeWords) {
    const TokenTable &words = form == WordForm::Bytes ? wholeWords : tokens;
    int32_t id = words.find(word);
    if (id != TokenTable::none) {
      ids.push_back(id);
      return;
    }
  }
  size_t first = ids.size();
  if (form == WordForm::Bytes)
    for (unsigned char byte : word)
      ids.push_back(byteIds[byte]);
  else
    addSymbols(word, ids);
  if (ids.size() - first > INT32_MAX)
    fail(TSR_UNSUPPORTED, where, " cannot merge ", ids.size() - first,
         " symbols of one word, at most ", INT32_MAX,
         "; split the text into documents");
  merger.apply(ids, first);
}

/// A run of unknown characters is held back until a known one comes, also past
/// bytes that it falls back to: `tokenizers` does so.
void Bpe::addSymbols(std::string_view word, Ids &ids) {
  bool isHeld = false;
  std::string symbol;
  for (size_t at = 0; at < word.size();) {
    size_t begin = at;
    at += codePointBytes(word, at);
    symbol.assign(begin == 0 ? "" : prefix);
    symbol += word.substr(begin, at - begin);
    if (at == word.size())
      symbol += suffix;
    spend(symbol.size());
    requireFew(ids);
    int32_t id = tokens.find(symbol);
    if (id != TokenTable::none) {
      if (isHeld)
        ids.push_back(unknownId(symbol));
      isHeld = false;
      ids.push_back(id);
      continue;
    }
    if (fallsBackToBytes && addByteTokens(symbol, ids))
      continue;
    if (!hasUnknown)
      continue;
    if (isHeld && !fusesUnknown)
      ids.push_back(unknownId(symbol));
    unknownId(symbol); // there must be one
    isHeld = true;
  }
  if (isHeld)
    ids.push_back(unknownId(symbol));
}

int32_t Bpe::unknownId(std::string_view symbol) const {
  int32_t id = tokens.find(unknown);
  if (id == TokenTable::none)
    fail(TSR_CORRUPT, where, " has no token for '", excerpt(symbol),
         "', and its unk_token '", excerpt(unknown),
         "' is not in the vocabulary");
  return id;
}

} // namespace

std::unique_ptr<Model> readBpe(const JsonView &part) {
  return std::make_unique<Bpe>(part);
}

} // namespace tessera
