#include "runtime/tokenizer/AddedTokens.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Characters.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace tessera {

AddedTokens::AddedTokens(const JsonView &list, const TokenTable &vocabulary,
                         const Normalizer *normalizer)
    : nextId(static_cast<int32_t>(vocabulary.size())) {
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
    item.refuse(concat("gives the added token '", token.content, "' the id ",
                       token.id, ", but ",
                       known != TokenTable::none
                           ? "the vocabulary gives it "
                           : "the next id that is free is ",
                       id));
  if (token.isNormalized && normalizer) {
    NormalText text;
    text.text = token.content;
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

void AddedTokens::place(const Piece &piece, size_t begin, size_t end,
                        const AddedToken &token, size_t &done,
                        Pieces &out) const {
  std::string_view text = piece.text;
  if (token.stripsLeft) {
    for (size_t at = begin; at > 0; begin = at)
      if (!isWhitespace(previousCodePoint(text, at)))
        break;
    begin = std::max(begin, done); // the token before may have taken them
  }
  if (token.stripsRight)
    for (size_t at = end; at < text.size(); end = at)
      if (!isWhitespace(nextCodePoint(text, at)))
        break;
  if (done < begin)
    out.push_back(piece.part(done, begin));
  Piece found = piece.part(begin, end);
  found.token = token.id;
  out.push_back(found);
  done = end;
}

void AddedTokens::split(const Piece &piece, Stage stage, Pieces &out) const {
  const Finder &texts = finder(stage);
  std::string_view text = piece.text;
  size_t done = 0;
  for (size_t at = 0; texts.hasTokens && at < text.size();) {
    if (!texts.begins[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    size_t longest = 0;
    int32_t index = -1;
    texts.texts.forEachPrefix(text.substr(at),
                              [&](size_t bytes, int32_t value) {
                                longest = bytes;
                                index = value;
                              });
    if (index < 0) {
      ++at;
      continue;
    }
    const AddedToken &token = tokens[index];
    if (!token.isSingleWord || !isWithinWord(text, at, at + longest))
      place(piece, at, at + longest, token, done, out);
    at += longest;
  }
  if (done < text.size())
    out.push_back(piece.part(done, text.size()));
}

} // namespace tessera
