#include "runtime/tokenizer/Tokenizer.h"

#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"
#include "runtime/tokenizer/PartReader.h"

#include <algorithm>

namespace tessera {

void Tokenizer::requireIds(const int32_t *ids, size_t count) const {
  for (size_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= vocabularySize())
      fail(TSR_INVALID_ARGUMENT, "id ", ids[i], " at ", i,
           " is outside of the tokenizer's vocabulary of ", vocabularySize());
}

size_t Tokenizer::countBytes(const std::vector<int32_t> &ids,
                             tsr_special special) const {
  std::string bytes;
  auto isOfBytes = [&](int32_t id) {
    return appendBytesOf(id, special, bytes);
  };
  if (std::all_of(ids.begin(), ids.end(), isOfBytes))
    return bytes.size();
  // Decoding makes three bytes of one that is no character by itself: a letter
  // stands for each byte.
  std::vector<int32_t> complete = ids;
  int32_t letter = idOf("<0x61>");
  if (letter >= 0 && byteOf(letter) >= 0)
    for (int32_t &id : complete)
      if (byteOf(id) >= 0)
        id = letter;
  return decode(complete, special).size();
}

namespace {
/// The settings of tokenizer_config.json.
struct FolderConfig {
  std::string endToken;
  AroundText around;
  bool hasAddedTokens = false; ///< Newer files list them.
};
} // namespace

/// Returns `eos_token`, which is a text, or an object that has one as
/// `content`.
static std::string endTokenOf(const JsonView &file) {
  if (!file.has("eos_token"))
    return "";
  JsonView token = file.at("eos_token");
  return token.raw().is_object() ? token.at("content").text() : token.text();
}

static JsonTree parseObject(const std::string &path) {
  constexpr const JsonLimits &limits = json_kinds::tokenizer_config;
  const std::string source = "'" + path + "'";
  JsonTree tree =
      parseJson(source, readJsonText(InputFile(path), limits), limits);
  JsonView(tree.root, source).requireObject();
  return tree;
}

/// Returns an empty config if there is no such file.
static FolderConfig readConfig(const std::string &path) {
  FolderConfig config;
  if (!isFile(path))
    return config;
  JsonTree tree = parseObject(path);
  JsonView file(tree.root, "'" + path + "'");
  config.around = {flagOf(file, "add_bos_token", false),
                   flagOf(file, "add_eos_token", false)};
  config.endToken = endTokenOf(file);
  config.hasAddedTokens = file.has("added_tokens_decoder");
  return config;
}

/// Files of vocabularies whose rules are in the code of `transformers`, by the
/// class of the tokenizer: how texts are cut, and which tokens are special.
static constexpr const char *vocabularies[] = {"vocab.json",
                                               "vocab.txt",
                                               "merges.txt",
                                               "spiece.model",
                                               "sentencepiece.bpe.model",
                                               "source.spm",
                                               "vocab.model"};

[[noreturn]] static void refuseVocabulary(const std::string &folder,
                                          const std::string &name) {
  fail(TSR_UNSUPPORTED, "'", folder, "' holds ", name,
       ", but no tokenizer.json, which says how texts become tokens of it; let "
       "transformers make one: python3 -c 'import sys, transformers; "
       "transformers.AutoTokenizer.from_pretrained(sys.argv[1])."
       "save_pretrained(sys.argv[1])' ",
       shellWord(folder));
}

/// Reads special_tokens_map.json, which `transformers` reads only in older
/// folders, where it takes precedence over tokenizer_config.json. Some folders
/// have no other file.
static void readSpecialTokens(const std::string &path, FolderConfig &config) {
  if (!isFile(path) || (config.hasAddedTokens && !config.endToken.empty()))
    return;
  JsonTree tree = parseObject(path);
  std::string end = endTokenOf(JsonView(tree.root, "'" + path + "'"));
  if (!end.empty())
    config.endToken = end;
}

/// Returns the file that holds the tokenizer.
static std::string findFile(const std::string &folder) {
  for (const char *name : {"/tokenizer.json", "/tokenizer.model"})
    if (isFile(folder + name))
      return folder + name;
  bool isPair =
      isFile(folder + "/vocab.json") && isFile(folder + "/merges.txt");
  if (isPair)
    refuseVocabulary(folder, "vocab.json and merges.txt");
  for (const char *name : vocabularies)
    if (isFile(folder + "/" + name))
      refuseVocabulary(folder, name);
  fail(TSR_NOT_FOUND, "directory '", folder,
       "' holds no tokenizer.json and no tokenizer.model; name the folder of a "
       "model as transformers saves it");
}

/// Refuses a path that names a vocabulary itself, unless it may be a model.
static void refuseNamedVocabulary(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string name = slash == path.npos ? path : path.substr(slash + 1);
  for (const char *vocabulary : {"vocab.json", "vocab.txt", "merges.txt"})
    if (name == vocabulary && isFile(path))
      refuseVocabulary(slash == path.npos ? "." : path.substr(0, slash), name);
}

std::unique_ptr<Tokenizer> loadTokenizer(const std::string &path) {
  bool isFolder = isDirectory(path);
  if (!isFolder)
    refuseNamedVocabulary(path);
  std::string file = isFolder ? findFile(path) : path;
  FolderConfig config;
  if (isFolder) {
    config = readConfig(path + "/tokenizer_config.json");
    readSpecialTokens(path + "/special_tokens_map.json", config);
  }
  InputFile input(file);
  constexpr uint64_t most = uint64_t(1) << 28;
  if (input.size() > most)
    fail(TSR_CORRUPT, "'", file, "' has ", input.size(), " bytes, at most ",
         most, " are read");
  std::string content = input.readAll(), source = "'" + file + "'";
  constexpr std::string_view suffix = ".model";
  bool isModel =
      file.size() > suffix.size() &&
      file.compare(file.size() - suffix.size(), suffix.size(), suffix) == 0;
  std::unique_ptr<Tokenizer> tokenizer =
      isModel ? readSentencePiece(source, content, config.around)
              : readTokenizer(source, content);
  if (!config.endToken.empty())
    tokenizer->endToken = config.endToken;
  return tokenizer;
}

} // namespace tessera
