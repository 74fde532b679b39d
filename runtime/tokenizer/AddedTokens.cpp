#include "runtime/tokenizer/AddedTokens.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace tessera {

AddedTokens::AddedTokens(const JsonView &list, const TokenTable &vocabulary,
                         const Normalizer *normalizer)
    : where(list.where()), nextId(static_cast<int32_t>(vocabulary.size())) {
  constexpr size_t most = size_t(1) << 20;
  if (list.raw().size() > most)
    list.refuse(concat("has ", list.raw().size(), " tokens, at most ", most,
                       " are read"));
  constexpr size_t usual = 256; // bytes of a token, and more
  if (normalizer)
    normalizer->begin(usual * list.raw().size());
  for (const JsonView &item : list.items())
    read(item, vocabulary, normalizer);
  build(original, false);
  build(normalized, true);
}

void AddedTokens::read(const JsonView &item, const TokenTable &vocabulary,
                       const Normalizer *normalizer) {
  requireKeys(item, {"id", "content", "single_word", "lstrip", "rstrip",
                     "normalized", "special"});
  AddedToken token;
  token.content = token.normal = item.at("content").text();
  if (token.content.empty())
    return;
  token.id =
      static_cast<int32_t>(item.at("id").integer(0, TokenTable::mostIds - 1));
  token.isSingleWord = flagOf(item, "single_word", false);
  token.stripsLeft = flagOf(item, "lstrip", false);
  token.stripsRight = flagOf(item, "rstrip", false);
  token.isNormalized = flagOf(item, "normalized", true);
  token.isSpecial = flagOf(item, "special", false);
  int32_t known =
      std::max(vocabulary.find(token.content), contents.find(token.content));
  int32_t id = known != TokenTable::none ? known : nextId++;
  if (token.id != id)
    item.refuse(concat("gives the added token '", excerpt(token.content),
                       "' the id ", token.id, ", but ",
                       known != TokenTable::none
                           ? "the vocabulary gives it "
                           : "the next id that is free is ",
                       id));
  if (token.isNormalized && normalizer) {
    NormalText text;
    text.text = token.content;
    text.limit.original = token.content.size();
    normalizer->apply(text);
    token.normal = text.text;
  }
  if (id >= end())
    byId.resize(id + 1, -1);
  byId[id] = static_cast<int32_t>(tokens.size());
  contents.add(token.content, id);
  if (token.isSpecial)
    specials.add(token.content, id);
  tokens.push_back(std::move(token));
}

void AddedTokens::build(Finder &finder, bool isNormalized) {
  std::vector<Trie::Entry> entries;
  for (const AddedToken &token : tokens)
    if (token.isNormalized == isNormalized && !token.normal.empty() &&
        find(token.id) == &token) {
      entries.push_back({token.normal, byId[token.id]});
      finder.begins[static_cast<unsigned char>(token.normal[0])] = true;
    }
  finder.hasTokens = !entries.empty();
  finder.texts = Trie(std::move(entries));
}

const AddedToken *AddedTokens::find(int32_t id) const {
  return id >= 0 && id < end() && byId[id] >= 0 ? &tokens[byId[id]] : nullptr;
}

int32_t AddedTokens::idOf(std::string_view content) const {
  return contents.find(content);
}

bool AddedTokens::isSpecial(std::string_view content) const {
  return specials.find(content) != TokenTable::none;
}

static bool isWithinWord(std::string_view text, size_t begin, size_t end) {
  size_t before = begin, after = end;
  return (begin > 0 && isWordCharacter(previousCodePoint(text, before))) ||
         (end < text.size() && isWordCharacter(nextCodePoint(text, after)));
}

struct AddedTokens::Cut {
  size_t done = 0; ///< The end of the last token.

  /// Returns the end of the whitespace from `begin` on. Several tokens may end
  /// in one run of it, which is looked through once.
  size_t endOfSpaces(std::string_view text, size_t begin) {
    if (begin >= runBegin && begin <= runEnd)
      return runEnd;
    runBegin = runEnd = begin;
    for (size_t at = begin; at < text.size(); runEnd = at)
      if (!isWhitespace(nextCodePoint(text, at)))
        break;
    return runEnd;
  }

private:
  size_t runBegin = 1, runEnd = 0; ///< No run was looked through.
};

void AddedTokens::place(const Piece &piece, size_t begin, size_t end,
                        const AddedToken &token, Cut &cut, Pieces &out) const {
  size_t &done = cut.done;
  std::string_view text = piece.text;
  if (token.stripsLeft) {
    for (size_t at = begin; at > done; begin = at)
      if (!isWhitespace(previousCodePoint(text, at)))
        break;
    begin = std::max(begin, done); // the token before may have taken them
  }
  if (token.stripsRight)
    end = cut.endOfSpaces(text, end);
  if (done < begin)
    out.push_back(piece.part(done, begin));
  Piece found = piece.part(begin, end);
  found.token = token.id;
  out.push_back(found);
  done = end;
}

void AddedTokens::split(const Piece &piece, Stage stage, WorkLimit &work,
                        Pieces &out) const {
  const Finder &texts = finder(stage);
  std::string_view text = piece.text;
  Cut cut;
  for (size_t at = 0; texts.hasTokens && at < text.size();) {
    if (!texts.begins[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    size_t longest = 0;
    int32_t index = -1;
    auto visit = [&](size_t bytes, int32_t value) {
      longest = bytes;
      index = value;
    };
    work.spend(where, texts.texts.forEachPrefix(text.substr(at), visit));
    if (index < 0) {
      ++at;
      continue;
    }
    const AddedToken &token = tokens[index];
    if (!token.isSingleWord || !isWithinWord(text, at, at + longest))
      place(piece, at, at + longest, token, cut, out);
    at += longest;
  }
  if (cut.done < text.size())
    out.push_back(piece.part(cut.done, text.size()));
}

} // namespace tessera
