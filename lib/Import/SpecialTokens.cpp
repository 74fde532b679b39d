//===- SpecialTokens.cpp - tokens that are never hidden -------------------===//
// The names are those of transformers' tokenizers (all_special_tokens), and
// every token that tokenizer.json calls special is one, too.
//===----------------------------------------------------------------------===//

#include "lib/Import/SpecialTokens.h"
#include "lib/Import/MaskToken.h"
#include "tessera/Options/SpecialIds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The tokenizer beside a config
//===----------------------------------------------------------------------===//

namespace {

class TokenizerFolder {
public:
  explicit TokenizerFolder(const ConfigFile &config)
      : config(config), folder(llvm::sys::path::parent_path(config.where())) {}

  bool hasTokenizer() const {
    return llvm::sys::path::filename(config.where()) == "config.json" &&
           (has("tokenizer.json") || has("vocab.txt"));
  }
  FailureOr<SpecialTokens> read();

private:
  std::string pathOf(StringRef file) const {
    SmallString<128> path = folder;
    llvm::sys::path::append(path, file);
    return std::string(path);
  }
  bool has(StringRef file) const { return llvm::sys::fs::exists(pathOf(file)); }
  LogicalResult readNames(StringRef file);
  void addNames(const json::Value *texts);
  LogicalResult readTokenizer();
  LogicalResult readVocabulary();
  void addNamed(const json::Value &vocabulary);
  void addMarked(const json::Object &token, std::optional<int64_t> id);

  const ConfigFile &config;
  SmallString<128> folder;
  /// Holds a token for each role: those of BERT's tokenizer where no file says
  /// otherwise.
  std::map<std::string, std::string> roles = {{"unk_token", "[UNK]"},
                                              {"sep_token", "[SEP]"},
                                              {"pad_token", "[PAD]"},
                                              {"cls_token", "[CLS]"},
                                              {"mask_token", "[MASK]"}};
  llvm::StringSet<> names; ///< Of the roles, and others.
  std::set<int64_t> ids;
};

} // namespace

/// A token is a text, or an object that has it.
static std::optional<StringRef> textOf(const json::Value &token) {
  const json::Object *object = token.getAsObject();
  return object ? object->getString("content") : token.getAsString();
}

/// The texts are a list of tokens, or an object that has them by name.
void TokenizerFolder::addNames(const json::Value *texts) {
  if (const json::Array *list = texts ? texts->getAsArray() : nullptr)
    for (const json::Value &token : *list)
      if (std::optional<StringRef> text = textOf(token))
        names.insert(*text);
  if (const json::Object *named = texts ? texts->getAsObject() : nullptr)
    for (const auto &entry : *named)
      if (std::optional<StringRef> text = textOf(entry.second))
        names.insert(*text);
}

LogicalResult TokenizerFolder::readNames(StringRef file) {
  if (!has(file))
    return success();
  FailureOr<ConfigFile> content =
      ConfigFile::read(config.getContext(), pathOf(file));
  if (failed(content))
    return failure();
  const json::Object &object = content->object();
  for (const char *role : {"unk_token", "sep_token", "pad_token", "cls_token",
                           "mask_token", "bos_token", "eos_token"})
    if (const json::Value *token = object.get(role)) {
      roles.erase(role); // null says that there is none
      if (std::optional<StringRef> text = textOf(*token))
        roles[role] = text->str();
    }
  addNames(object.get("additional_special_tokens"));
  addNames(object.get("extra_special_tokens"));
  if (const json::Object *added = object.getObject("added_tokens_decoder"))
    for (const auto &[id, token] : *added)
      if (int64_t number = 0; !StringRef(id).getAsInteger(10, number))
        if (const json::Object *entry = token.getAsObject())
          addMarked(*entry, number);
  return success();
}

void TokenizerFolder::addMarked(const json::Object &token,
                                std::optional<int64_t> id) {
  std::optional<StringRef> text = token.getString("content");
  bool isNamed = text && names.contains(*text);
  if (id && (isNamed || token.getBoolean("special").value_or(false)))
    ids.insert(*id);
}

/// A vocabulary is an object of numbers by token, or a list in order of numbers
/// of tokens with their scores.
void TokenizerFolder::addNamed(const json::Value &vocabulary) {
  if (const json::Object *numbers = vocabulary.getAsObject())
    for (const auto &name : names)
      if (std::optional<int64_t> id = numbers->getInteger(name.getKey()))
        ids.insert(*id);
  if (const json::Array *tokens = vocabulary.getAsArray())
    for (const auto &[id, entry] : llvm::enumerate(*tokens))
      if (const json::Array *pair = entry.getAsArray(); pair && !pair->empty())
        if (std::optional<StringRef> text = pair->front().getAsString();
            text && names.contains(*text))
          ids.insert(static_cast<int64_t>(id));
}

LogicalResult TokenizerFolder::readTokenizer() {
  FailureOr<ConfigFile> file =
      ConfigFile::read(config.getContext(), pathOf("tokenizer.json"));
  if (failed(file))
    return failure();
  if (const json::Array *added = file->object().getArray("added_tokens"))
    for (const json::Value &token : *added)
      if (const json::Object *entry = token.getAsObject())
        addMarked(*entry, entry->getInteger("id"));
  const json::Object *model = file->object().getObject("model");
  if (const json::Value *vocabulary = model ? model->get("vocab") : nullptr)
    addNamed(*vocabulary);
  return success();
}

/// A line is a token, and its number the token's.
LogicalResult TokenizerFolder::readVocabulary() {
  auto buffer = llvm::MemoryBuffer::getFile(pathOf("vocab.txt"));
  if (!buffer)
    return emitError(UnknownLoc::get(config.getContext()))
           << "cannot read '" << pathOf("vocab.txt")
           << "': " << buffer.getError().message();
  StringRef rest = (*buffer)->getBuffer();
  for (int64_t number = 0; !rest.empty(); ++number) {
    auto [line, after] = rest.split('\n');
    if (names.contains(line.rtrim('\r')))
      ids.insert(number);
    rest = after;
  }
  return success();
}

FailureOr<SpecialTokens> TokenizerFolder::read() {
  if (failed(readNames("special_tokens_map.json")) ||
      failed(readNames("tokenizer_config.json")))
    return failure();
  for (const auto &entry : roles)
    names.insert(entry.second);
  if (failed(has("tokenizer.json") ? readTokenizer() : readVocabulary()))
    return failure();
  return SpecialTokens(ids.begin(), ids.end());
}

//===----------------------------------------------------------------------===//
// A config without a tokenizer
//===----------------------------------------------------------------------===//

/// Returns the id that a key has, -1 if its value is none, and `otherwise`
/// where the key is absent or null.
static int64_t idOf(const ConfigFile &file, StringRef key,
                    int64_t otherwise = -1) {
  const json::Value *value = file.find(key);
  return value ? std::max<int64_t>(value->getAsInteger().value_or(-1), -1)
               : otherwise;
}

static SpecialTokens ascending(std::set<int64_t> ids) {
  ids.erase(-1);
  return SpecialTokens(ids.begin(), ids.end());
}

/// Returns the special tokens that a config tells by its ids. Where they are
/// only guessed, `like` says from what.
static std::optional<SpecialTokens>
tellTokens(const ConfigFile &file, int64_t vocabulary, StringRef &like) {
  int64_t padding = idOf(file, "pad_token_id", 0);
  int64_t mask = idOf(file, "mask_token_id"), cls = idOf(file, "cls_token_id"),
          sep = idOf(file, "sep_token_id");
  if (cls >= 0 && sep >= 0)
    return ascending({padding, mask, cls, sep, idOf(file, "unk_token_id"),
                      idOf(file, "bos_token_id"), idOf(file, "eos_token_id")});
  std::optional<int64_t> published = publishedMask(vocabulary);
  if (published && padding == 0 && (mask < 0 || mask == *published)) {
    like = "a vocabulary that BERT was published with";
    return ascending(
        {0, *published - 3, *published - 2, *published - 1, *published});
  }
  constexpr int64_t trainedMask = 4; // after [PAD], [UNK], [CLS] and [SEP]
  if (padding == 0 && mask == trainedMask) {
    like = "those of a new tokenizer of BERT's kind";
    return ascending({0, 1, 2, 3, trainedMask});
  }
  return std::nullopt;
}

static void remarkOn(const ConfigFile &file, const SpecialTokens &ids,
                     StringRef like) {
  std::string list;
  for (int64_t id : ids)
    list += (list.empty() ? "" : ", ") + std::to_string(id);
  emitRemark(UnknownLoc::get(file.getContext()))
      << "the special tokens are taken to be " << list
      << ": no tokenizer lies beside the config, whose ids are like " << like
      << "; --special-ids names others";
}

//===----------------------------------------------------------------------===//
// Either
//===----------------------------------------------------------------------===//

FailureOr<std::optional<SpecialTokens>>
tessera::readSpecialTokens(const ConfigFile &file, StringRef given,
                           int64_t vocabulary, bool explains) {
  if (!given.empty()) {
    std::optional<SpecialTokens> ids = parseSpecialIds(given.str());
    if (ids && !ids->empty() && ids->back() >= vocabulary)
      return file.error("vocab_size")
             << "--special-ids names " << ids->back()
             << ", which is outside of the vocabulary of " << vocabulary
             << "; name tokens of the model";
    return ids;
  }
  if (TokenizerFolder folder(file); folder.hasTokenizer()) {
    FailureOr<SpecialTokens> ids = folder.read();
    if (failed(ids))
      return failure();
    // The model may have fewer tokens than its tokenizer.
    llvm::erase_if(*ids,
                   [&](int64_t id) { return id < 0 || id >= vocabulary; });
    return std::optional<SpecialTokens>(std::move(*ids));
  }
  StringRef like;
  std::optional<SpecialTokens> ids = tellTokens(file, vocabulary, like);
  if (ids && !ids->empty() && ids->back() >= vocabulary)
    return std::optional<SpecialTokens>();
  if (ids && explains && !like.empty())
    remarkOn(file, *ids, like);
  return ids;
}
