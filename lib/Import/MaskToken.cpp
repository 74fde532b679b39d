//===- MaskToken.cpp - the mask of a masked language model ----------------===//
// Looks where transformers' tokenizers do: tokenizer.json or vocab.txt numbers
// the tokens, tokenizer_config.json or special_tokens_map.json names the mask.
//===----------------------------------------------------------------------===//

#include "lib/Import/MaskToken.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;

namespace {

/// The files of a tokenizer beside a config.json.
class TokenizerFiles {
public:
  explicit TokenizerFiles(const ConfigFile &config) : config(config) {}

  /// Returns the number of the token; null if it has none here.
  FailureOr<std::optional<int64_t>> find();
  bool exist() const { return has("tokenizer.json") || has("vocab.txt"); }
  const std::string &maskName() const { return name; }

private:
  std::string pathOf(StringRef file) const;
  bool has(StringRef file) const { return llvm::sys::fs::exists(pathOf(file)); }
  LogicalResult readName();
  FailureOr<std::optional<int64_t>> inTokenizer() const;
  std::optional<int64_t> inVocabulary() const;

  const ConfigFile &config;
  std::string name = "[MASK]";
};

} // namespace

std::string TokenizerFiles::pathOf(StringRef file) const {
  SmallString<128> path = llvm::sys::path::parent_path(config.where());
  llvm::sys::path::append(path, file);
  return std::string(path);
}

/// A special token is a text, or an object that has it.
static std::optional<StringRef> textOf(const llvm::json::Value *token) {
  if (const llvm::json::Object *object = token ? token->getAsObject() : nullptr)
    token = object->get("content");
  return token ? token->getAsString() : std::nullopt;
}

LogicalResult TokenizerFiles::readName() {
  for (StringRef file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!has(file))
      continue;
    FailureOr<ConfigFile> names =
        ConfigFile::read(config.getContext(), pathOf(file));
    if (failed(names))
      return failure();
    if (std::optional<StringRef> text = textOf(names->find("mask_token"))) {
      name = text->str();
      return success();
    }
  }
  return success();
}

FailureOr<std::optional<int64_t>> TokenizerFiles::inTokenizer() const {
  FailureOr<ConfigFile> file =
      ConfigFile::read(config.getContext(), pathOf("tokenizer.json"));
  if (failed(file))
    return failure();
  if (const llvm::json::Array *added = file->object().getArray("added_tokens"))
    for (const llvm::json::Value &entry : *added)
      if (const llvm::json::Object *token = entry.getAsObject())
        if (token->getString("content") == StringRef(name))
          return token->getInteger("id");
  const llvm::json::Object *model = file->object().getObject("model");
  const llvm::json::Object *vocabulary =
      model ? model->getObject("vocab") : nullptr;
  return vocabulary ? vocabulary->getInteger(name) : std::nullopt;
}

/// A line is a token, and its number the token's.
std::optional<int64_t> TokenizerFiles::inVocabulary() const {
  auto buffer = llvm::MemoryBuffer::getFile(pathOf("vocab.txt"));
  if (!buffer)
    return std::nullopt;
  StringRef rest = (*buffer)->getBuffer();
  for (int64_t number = 0; !rest.empty(); ++number) {
    auto [line, after] = rest.split('\n');
    if (line.rtrim('\r') == name)
      return number;
    rest = after;
  }
  return std::nullopt;
}

FailureOr<std::optional<int64_t>> TokenizerFiles::find() {
  if (failed(readName()))
    return failure();
  if (has("tokenizer.json"))
    return inTokenizer();
  return inVocabulary();
}

std::optional<int64_t> tessera::publishedMask(int64_t vocabulary) {
  constexpr int64_t published[] = {30522, 28996, 119547, 105879, 21128};
  if (llvm::is_contained(published, vocabulary))
    return 103;
  return std::nullopt;
}

FailureOr<std::optional<int64_t>> tessera::readMaskToken(const ConfigFile &file,
                                                         int64_t vocabulary) {
  constexpr StringRef key = "mask_token_id";
  if (file.find(key)) {
    int64_t token = 0;
    if (failed(file.read(key, token, {0, vocabulary - 1})))
      return failure();
    return std::optional<int64_t>(token);
  }
  TokenizerFiles tokenizer(file);
  if (llvm::sys::path::filename(file.where()) != "config.json" ||
      !tokenizer.exist())
    return publishedMask(vocabulary);
  FailureOr<std::optional<int64_t>> token = tokenizer.find();
  if (failed(token) || !*token || (**token >= 0 && **token < vocabulary))
    return token;
  return file.error("vocab_size")
         << "the tokenizer beside the config numbers '" << tokenizer.maskName()
         << "' " << **token << ", but 'vocab_size' is " << vocabulary
         << "; take the tokenizer of this model, or give 'mask_token_id'";
}

LogicalResult tessera::refuseMissingMask(const ConfigFile &file) {
  return file.error("model_type")
         << "the mask token is not known: the config has no 'mask_token_id', "
            "and no tokenizer.json or vocab.txt beside it has one; give "
            "'mask_token_id' (of a tokenizer the number of '[MASK]')";
}
