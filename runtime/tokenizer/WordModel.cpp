#include "runtime/tokenizer/WordModel.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/Utf8.h"

#include <cstdio>

namespace tessera {

void Model::encodeWord(std::string_view word, Ids &ids) {
  if (word.size() > WordCache::longestWord)
    return encodeNew(word, ids);
  uint64_t hash = hashOf(word);
  if (cache.find(word, hash, ids))
    return requireFew(ids);
  size_t before = ids.size();
  encodeNew(word, ids);
  requireFew(ids);
  cache.add(word, hash, ids.data() + before, ids.size() - before);
}

void Model::requireFew(const Ids &ids) const {
  if (ids.size() > mostIds)
    fail(TSR_UNSUPPORTED, where, " makes ", ids.size(),
         " tokens or more of a text, at most ", mostIds,
         " are made of one of its length; use the tokenizer of another model");
}

void Model::readVocabulary(const JsonView &view) {
  if (!view.raw().is_object())
    view.refuse("must be an object of tokens and their ids");
  for (const auto &member : view.raw().items()) {
    const nlohmann::json &id = member.value();
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= TokenTable::mostIds)
      view.refuse(concat("gives the token '", excerpt(member.key()),
                         "' the id ", excerpt(id.dump()),
                         ", ids are integers in [0, ", TokenTable::mostIds,
                         ")"));
    tokens.add(member.key(), id.get<int32_t>());
  }
  if (tokens.size() == 0)
    view.refuse("is empty; a vocabulary has tokens");
}

bool Model::addByteTokens(std::string_view text, Ids &ids) const {
  size_t before = ids.size();
  for (unsigned char byte : text) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    int32_t id = tokens.find(name);
    if (id == TokenTable::none) {
      ids.resize(before);
      return false;
    }
    ids.push_back(id);
  }
  return true;
}

std::unique_ptr<Model> readModel(const JsonView &part) {
  std::string type = typeOf(part);
  if (type == "BPE")
    return readBpe(part);
  if (type == "Unigram")
    return readUnigram(part);
  if (type == "WordPiece")
    return readWordPiece(part);
  refusePart(part, concat("is of type '", type,
                          "', supported are BPE, Unigram and WordPiece"));
}

} // namespace tessera
