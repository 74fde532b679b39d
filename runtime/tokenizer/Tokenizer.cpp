#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

namespace tessera {

void Tokenizer::requireIds(const int32_t *ids, size_t count) const {
  for (size_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= vocabularySize())
      fail(TSR_INVALID_ARGUMENT, "id ", ids[i], " at ", i,
           " is outside of the tokenizer's vocabulary of ", vocabularySize());
}

/// "eos_token" of tokenizer_config.json: a text, or an object that has one.
static std::string findEndToken(const std::string &path) {
  if (!isFile(path))
    return "";
  constexpr JsonLimits limits = {size_t(1) << 26, 32, size_t(1) << 22};
  std::string content = InputFile(path).readAll(), source = "'" + path + "'";
  JsonTree tree = parseJson(source, content.data(),
                            content.data() + content.size(), limits);
  JsonView file(tree.root, source);
  if (!file.has("eos_token"))
    return "";
  JsonView token = file.at("eos_token");
  return token.raw().is_object() ? token.at("content").text() : token.text();
}

std::unique_ptr<Tokenizer> loadTokenizer(const std::string &path) {
  bool isFolder = isDirectory(path);
  std::string file = isFolder ? path + "/tokenizer.json" : path;
  if (isFolder && !isFile(file))
    fail(TSR_NOT_FOUND, "directory '", path,
         "' holds no tokenizer.json; name the folder of a model as "
         "transformers saves it");
  std::string content = InputFile(file).readAll();
  std::unique_ptr<Tokenizer> tokenizer =
      readTokenizer("'" + file + "'", content);
  if (isFolder)
    tokenizer->endToken = findEndToken(path + "/tokenizer_config.json");
  return tokenizer;
}

} // namespace tessera
