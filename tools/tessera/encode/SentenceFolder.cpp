//===- SentenceFolder.cpp - how a folder embeds texts ---------------------===//

#include "tools/tessera/encode/SentenceFolder.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <vector>

using namespace tessera;
namespace json = llvm::json;

namespace {

/// A way of pooling, by the name of its option, and by the key of its flag
/// after "pooling_mode_".
struct Mode {
  const char *name, *key;
  tsr_pooling pooling;
};

const Mode kModes[] = {
    {"cls", "cls_token", TSR_POOLING_CLS},
    {"max", "max_tokens", TSR_POOLING_MAX},
    {"mean", "mean_tokens", TSR_POOLING_MEAN},
    {"mean_sqrt_len", "mean_sqrt_len_tokens", TSR_POOLING_MEAN_SQRT_LEN},
    {"weightedmean", "weightedmean_tokens", TSR_POOLING_WEIGHTED_MEAN},
    {"lasttoken", "lasttoken", TSR_POOLING_LAST_TOKEN}};

/// Reads files of one folder; errors are printed.
class Reader {
public:
  Reader(const std::string &folder, SentenceSettings &settings)
      : folder(folder), settings(settings) {}

  bool readModules();
  bool readPooling(const std::string &file);
  bool readLength(const std::string &file);
  bool exists(const std::string &file) const {
    return llvm::sys::fs::exists(folder + "/" + file);
  }

private:
  bool refuse(const std::string &file, const std::string &why) const {
    return !printError("'" + folder + "/" + file + "' " + why +
                       "; name one of cls, mean, max, lasttoken, "
                       "mean_sqrt_len and weightedmean with --pooling");
  }
  std::optional<json::Value> parse(const std::string &file) const;
  bool readModule(const json::Object &module);
  bool choose(const std::string &file, const std::vector<std::string> &names);

  const std::string &folder;
  SentenceSettings &settings;
};

std::optional<json::Value> Reader::parse(const std::string &file) const {
  auto buffer = readText(folder + "/" + file, json_kinds::config);
  if (!buffer) {
    printError(llvm::toString(buffer.takeError()));
    return std::nullopt;
  }
  auto parsed = parseJson((*buffer)->getBuffer(), json_kinds::config);
  if (parsed)
    return std::move(*parsed);
  printError("'" + folder + "/" + file +
             "' is no JSON: " + llvm::toString(parsed.takeError()));
  return std::nullopt;
}

bool Reader::choose(const std::string &file,
                    const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  if (names.size() != 1)
    return refuse(file, names.empty()
                            ? "asks for no pooling"
                            : "asks for " + std::to_string(names.size()) +
                                  " poolings side by side (" + list +
                                  "), of which one is supported");
  std::optional<tsr_pooling> pooling = poolingOf(names[0]);
  if (!pooling)
    return refuse(file, "asks for the pooling '" + list +
                            "', which is not supported");
  settings.pooling = *pooling;
  settings.isFound = true;
  return true;
}

/// Older files have a flag for each pooling, of which that of the mean is set
/// by default; newer ones have names.
bool Reader::readPooling(const std::string &file) {
  std::optional<json::Value> parsed = parse(file);
  if (!parsed)
    return false;
  const json::Object *config = parsed->getAsObject();
  if (!config)
    return refuse(file, "is no object");
  settings.width = config->getInteger("word_embedding_dimension").value_or(0);
  std::vector<std::string> names;
  if (auto name = config->getString("pooling_mode")) {
    names.push_back(name->str());
  } else if (const json::Array *list = config->getArray("pooling_mode")) {
    for (const json::Value &each : *list)
      names.push_back(each.getAsString().value_or("?").str());
  } else {
    for (const Mode &mode : kModes)
      if (config->getBoolean(std::string("pooling_mode_") + mode.key)
              .value_or(mode.pooling == TSR_POOLING_MEAN))
        names.emplace_back(mode.name);
  }
  return choose(file, names);
}

bool Reader::readLength(const std::string &file) {
  if (!exists(file))
    return true;
  std::optional<json::Value> parsed = parse(file);
  if (!parsed)
    return false;
  const json::Object *config = parsed->getAsObject();
  const json::Value *length = config ? config->get("max_seq_length") : nullptr;
  if (config && config->getBoolean("do_lower_case").value_or(false))
    printNote("do_lower_case of '" + folder + "/" + file +
              "' is left to the tokenizer");
  if (!length || length->getAsNull())
    return true;
  settings.mostTokens = length->getAsInteger().value_or(0);
  return settings.mostTokens > 0 ||
         !printError("'" + folder + "/" + file +
                     "': max_seq_length must be a positive number of tokens");
}

/// Returns whether a path leads out of the folder that it begins in.
bool leaves(llvm::StringRef path) {
  return llvm::sys::path::is_absolute(path) || path.contains('\0') ||
         llvm::any_of(llvm::make_range(llvm::sys::path::begin(path),
                                       llvm::sys::path::end(path)),
                      [](llvm::StringRef part) { return part == ".."; });
}

bool Reader::readModule(const json::Object &module) {
  const std::string path = module.getString("path").value_or("").str();
  llvm::StringRef type = module.getString("type").value_or("");
  type = type.substr(type.rfind('.') + 1);
  if (leaves(path))
    return refuse("modules.json",
                  "names '" + path + "', which is no folder inside its own");
  const std::string inside = path.empty() ? "" : path + "/";
  if (type == "Transformer")
    return readLength(inside + "sentence_bert_config.json");
  if (type == "Pooling")
    return readPooling(inside + "config.json");
  settings.normalizes |= type == "Normalize";
  return type == "Normalize" || type == "Dropout" ||
         refuse("modules.json", "asks for the module '" + type.str() +
                                    "' in '" + path +
                                    "', which is not supported");
}

bool Reader::readModules() {
  std::optional<json::Value> parsed = parse("modules.json");
  if (!parsed)
    return false;
  const json::Array *modules = parsed->getAsArray();
  if (!modules)
    return refuse("modules.json", "is no list of modules");
  for (const json::Value &module : *modules)
    if (!module.getAsObject() || !readModule(*module.getAsObject()))
      return module.getAsObject()
                 ? false
                 : refuse("modules.json", "lists what is no module");
  return settings.isFound ||
         refuse("modules.json", "asks for no module of pooling");
}

} // namespace

std::optional<tsr_pooling> tessera::poolingOf(const std::string &name) {
  for (const Mode &mode : kModes)
    if (name == mode.name || name == mode.key)
      return mode.pooling;
  return std::nullopt;
}

bool tessera::readSentenceFolder(const std::string &folder, bool isOverridden,
                                 SentenceSettings &settings) {
  Reader reader(folder, settings);
  if (!isOverridden && reader.exists("modules.json"))
    return reader.readModules();
  if (!reader.readLength("sentence_bert_config.json"))
    return false;
  const std::string pooling = "1_Pooling/config.json";
  return isOverridden || !reader.exists(pooling) || reader.readPooling(pooling);
}
