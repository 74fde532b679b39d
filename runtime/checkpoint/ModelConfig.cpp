//===- ModelConfig.cpp - config.json beside saved weights -----------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/DType.h"
#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"

#include <algorithm>

namespace tessera {

/// Returns the type of the saved parameters as `transformers` spells it. If
/// there are several, because frozen parameters are rounded, it is the widest,
/// which holds all.
static std::string torchType(const Metadata &metadata) {
  int64_t bytes = 0;
  for (const TensorInfo &tensor : metadata.tensors)
    if (tensor.role == Role::Parameter)
      bytes = std::max(bytes, dtypeBytes(tensor.dtype));
  return bytes == dtypeBytes(TSR_DTYPE_F64)    ? "float64"
         : bytes == dtypeBytes(TSR_DTYPE_BF16) ? "bfloat16"
                                               : "float32";
}

/// Returns the text that was imported, but for the type of the weights beside
/// it: `transformers` would load them in the type that config.json says.
static std::string ofSavedType(const std::string &text, const char *name,
                               const Metadata &metadata) {
  JsonTree parsed = parseJson(concat("'", name, "' of the artifact"), text,
                              json_kinds::config);
  std::string type = torchType(metadata);
  bool changes = false;
  for (const char *key : {"dtype", "torch_dtype"}) {
    auto found = parsed.root.find(key);
    if (found == parsed.root.end() || *found == type)
      continue;
    *found = type;
    changes = true;
  }
  return changes ? parsed.root.dump(2) + "\n" : text;
}

std::vector<ConfigText> configTexts(const Metadata &metadata) {
  std::vector<ConfigText> files;
  for (const char *name : configFileNames) {
    auto found = metadata.configFiles.find(name);
    if (found != metadata.configFiles.end())
      files.push_back({name, ofSavedType(found->second, name, metadata)});
  }
  return files;
}

/// Names the files beside weights that say how to use them.
static constexpr const char *besideWeights[] = {
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "chat_template.jinja",
    "chat_template.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json"};

/// Recognizes the modules of sentence-transformers: "1_Pooling", "2_Normalize".
static bool isModule(const std::string &name) {
  return name.size() > 2 && name[0] >= '0' && name[0] <= '9' && name[1] == '_';
}

/// Reads a file beside weights. Each of them is small; a tokenizer.json is the
/// largest.
static std::string readCarried(const std::string &path) {
  constexpr uint64_t most = json_kinds::tokenizer.bytes;
  const InputFile file(path);
  if (file.size() > most)
    fail(TSR_CORRUPT, "'", path, "' has ", file.size(),
         " bytes; a file beside weights has at most ", most);
  return file.readAll();
}

/// A module may have no file at all; its directory is there all the same.
static void readModule(const std::string &folder, const std::string &module,
                       std::vector<CarriedFile> &files) {
  const std::string config = concat(module, "/config.json");
  const std::string path = concat(folder, "/", config);
  if (isFile(path))
    files.push_back({config, readCarried(path)});
  else
    files.push_back({concat(module, "/"), ""});
}

std::vector<CarriedFile> readModelFiles(const std::string &folder) {
  std::vector<CarriedFile> files;
  for (const char *name : besideWeights) {
    const std::string path = concat(folder, "/", name);
    if (isFile(path))
      files.push_back({name, readCarried(path)});
  }
  if (!isFile(concat(folder, "/modules.json")))
    return files;
  for (const std::string &name : listDirectory(folder))
    if (isModule(name) && isDirectory(concat(folder, "/", name)))
      readModule(folder, name, files);
  return files;
}

void writeModelFiles(const std::vector<CarriedFile> &files,
                     const std::string &directory) {
  for (const CarriedFile &file : files) {
    const std::string path = concat(directory, "/", file.name);
    if (isFile(path))
      continue;
    if (size_t slash = file.name.find('/'); slash != std::string::npos)
      createDirectories(concat(directory, "/", file.name.substr(0, slash)));
    if (file.name.back() == '/')
      continue;
    WrittenFile written(path);
    written.write(file.content.data(), file.content.size());
    written.finish();
  }
}

} // namespace tessera
