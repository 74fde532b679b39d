//===- TokenizerFolder.cpp - the tokenizer beside a config ----------------===//

#include "lib/Import/TokenizerFolder.h"
#include "tessera/Json/ReadText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

std::string TokenizerFolder::pathOf(StringRef file) const {
  SmallString<128> path = llvm::sys::path::parent_path(config.where());
  llvm::sys::path::append(path, file);
  return std::string(path);
}

bool TokenizerFolder::has(StringRef file) const {
  return llvm::sys::fs::exists(pathOf(file));
}

bool TokenizerFolder::hasTokenizer() const {
  return llvm::sys::path::filename(config.where()) == "config.json" &&
         (has("tokenizer.json") || has("vocab.txt"));
}

std::string TokenizerFolder::textOf(StringRef role) const {
  auto found = roles.find(role.str());
  return found == roles.end() ? "" : found->second;
}

std::optional<int64_t> TokenizerFolder::numberOf(StringRef role) const {
  auto found = numbers.find(textOf(role));
  return found == numbers.end() ? std::nullopt
                                : std::optional<int64_t>(found->second);
}

/// A token is a text, or an object that has it.
static std::optional<StringRef> textOfToken(const json::Value &token) {
  const json::Object *object = token.getAsObject();
  return object ? object->getString("content") : token.getAsString();
}

/// The texts are a list of tokens, or an object that has them by name.
void TokenizerFolder::addNames(const json::Value *texts) {
  if (const json::Array *list = texts ? texts->getAsArray() : nullptr)
    for (const json::Value &token : *list)
      if (std::optional<StringRef> text = textOfToken(token))
        names.insert(text->str());
  if (const json::Object *named = texts ? texts->getAsObject() : nullptr)
    for (const auto &entry : *named)
      if (std::optional<StringRef> text = textOfToken(entry.second))
        names.insert(text->str());
}

/// Keeps an added token, which counts once all names are known.
void TokenizerFolder::collect(const json::Value &token,
                              std::optional<int64_t> id) {
  const json::Object *entry = token.getAsObject();
  if (entry && id)
    added.push_back({entry->getString("content").value_or("").str(), *id,
                     entry->getBoolean("special").value_or(false)});
}

LogicalResult TokenizerFolder::readNames(StringRef file) {
  if (!has(file))
    return success();
  FailureOr<ConfigFile> content = ConfigFile::read(
      config.getContext(), pathOf(file), json_kinds::tokenizer_config);
  if (failed(content))
    return failure();
  const json::Object &object = content->object();
  for (const char *role : {"unk_token", "sep_token", "pad_token", "cls_token",
                           "mask_token", "bos_token", "eos_token"})
    if (const json::Value *token = object.get(role)) {
      std::optional<StringRef> text = textOfToken(*token);
      if (text) {
        roles[role] = text->str();
        named.insert(role);
      } else if (!named.count(role)) {
        roles.erase(role);
      }
    }
  addNames(object.get("additional_special_tokens"));
  addNames(object.get("extra_special_tokens"));
  if (const json::Object *tokens = object.getObject("added_tokens_decoder"))
    for (const auto &[id, token] : *tokens)
      if (int64_t number = 0; !StringRef(id).getAsInteger(10, number))
        collect(token, number);
  return success();
}

void TokenizerFolder::number(StringRef text, std::optional<int64_t> id) {
  if (!id || !names.count(text.str()))
    return;
  numbers.try_emplace(text.str(), *id);
  ids.insert(*id);
}

/// A vocabulary is an object of numbers by token, or a list in order of numbers
/// of tokens with their scores.
LogicalResult TokenizerFolder::readTokenizer() {
  FailureOr<ConfigFile> file = ConfigFile::read(
      config.getContext(), pathOf("tokenizer.json"), json_kinds::tokenizer);
  if (failed(file))
    return failure();
  if (const json::Array *tokens = file->object().getArray("added_tokens"))
    for (const json::Value &token : *tokens)
      if (const json::Object *entry = token.getAsObject())
        collect(token, entry->getInteger("id"));
  const json::Object *model = file->object().getObject("model");
  const json::Value *vocabulary = model ? model->get("vocab") : nullptr;
  if (const json::Object *byText =
          vocabulary ? vocabulary->getAsObject() : nullptr)
    for (const std::string &name : names)
      number(name, byText->getInteger(name));
  if (const json::Array *list = vocabulary ? vocabulary->getAsArray() : nullptr)
    for (const auto &[id, entry] : llvm::enumerate(*list))
      if (const json::Array *pair = entry.getAsArray(); pair && !pair->empty())
        number(pair->front().getAsString().value_or(""),
               static_cast<int64_t>(id));
  return success();
}

/// A line is a token, and its number the token's.
LogicalResult TokenizerFolder::readVocabulary() {
  auto buffer = readText(pathOf("vocab.txt"), json_kinds::tokenizer);
  if (!buffer)
    return emitError(UnknownLoc::get(config.getContext()))
           << llvm::toString(buffer.takeError());
  StringRef rest = (*buffer)->getBuffer();
  for (int64_t line = 0; !rest.empty(); ++line) {
    auto [text, after] = rest.split('\n');
    number(text.rtrim('\r'), line);
    rest = after;
  }
  return success();
}

LogicalResult TokenizerFolder::read() {
  if (failed(readNames("special_tokens_map.json")) ||
      failed(readNames("tokenizer_config.json")))
    return failure();
  for (const auto &entry : roles)
    names.insert(entry.second);
  if (failed(has("tokenizer.json") ? readTokenizer() : readVocabulary()))
    return failure();
  for (const Added &token : added) {
    // If a token has two numbers, the tokenizer's counts.
    if (names.count(token.text))
      numbers[token.text] = token.id;
    number(token.text, token.id);
    if (token.isSpecial)
      ids.insert(token.id);
  }
  return success();
}
