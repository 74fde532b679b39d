//===- PlanFile.cpp - a plan as a file ------------------------------------===//

#include "tessera/Plan/PlanFile.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tessera/Options/PlanFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <optional>
#include <set>

using namespace llvm;
using namespace tessera;
using tessera::plan::ModelIdentity;
using tessera::plan::PlanFile;

static constexpr const char *kVersionKey = "tessera_plan";

/// Programs are hashed only.
static constexpr uint64_t kMostBytesOfProgram = uint64_t(4) << 30;

static std::string digestOf(StringRef text) {
  std::array<uint8_t, 32> digest = SHA256::hash(arrayRefFromStringRef(text));
  constexpr size_t shown = 8;
  return toHex(ArrayRef(digest).take_front(shown), /*LowerCase=*/true);
}

std::string plan::identify(const std::string &path, ModelIdentity &model) {
  SmallString<128> file(path);
  if (sys::fs::is_directory(path))
    sys::path::append(file, "config.json");
  StringRef extension = sys::path::extension(path);
  bool isProgram = extension == ".mlir" || extension == ".mlirbc";
  auto text = isProgram ? readText(file, kMostBytesOfProgram, "a program")
                        : readText(file, json_kinds::config);
  if (!text)
    return toString(text.takeError());
  if (isProgram) {
    model = {"program", digestOf((*text)->getBuffer())};
    return "";
  }
  Expected<json::Value> config =
      parseJson((*text)->getBuffer(), json_kinds::config);
  if (!config)
    return "'" + file.str().str() + "': " + toString(config.takeError());
  const json::Object *keys = config->getAsObject();
  std::optional<StringRef> type =
      keys ? keys->getString("model_type") : std::nullopt;
  // Keys are printed in order, without spaces.
  model = {type.value_or("model").str(),
           digestOf(formatv("{0}", *config).str())};
  return "";
}

static constexpr const char *kLayersKey = "layers",
                            *kRecomputeKey = "recompute",
                            *kShardingKey = "sharding",
                            *kReplicated = "replicated";

static bool isAboutLayers(StringRef option) {
  return option == PlanFile::kRecomputeOption ||
         option == PlanFile::kReplicatedOption;
}

/// Writes "0-3=full,7=none" as [{"layers": "0-3", "recompute": "full"}, ...],
/// and "0-3,7" as [{"layers": "0-3", "sharding": "replicated"}, ...].
static void addLayers(json::Array &layers, StringRef option, StringRef text) {
  SmallVector<StringRef> ranges;
  text.split(ranges, ',');
  for (StringRef range : ranges) {
    auto [numbers, mode] = range.split('=');
    json::Object entry{{kLayersKey, numbers}};
    if (option == PlanFile::kRecomputeOption)
      entry[kRecomputeKey] = mode;
    else
      entry[kShardingKey] = kReplicated;
    layers.push_back(std::move(entry));
  }
}

std::string PlanFile::json() const {
  json::Object values;
  json::Array layers;
  for (const auto &[name, text] : options) {
    if (isAboutLayers(name))
      addLayers(layers, name, text);
    else
      values[name] = text;
  }
  json::Object root{{kVersionKey, kVersion},
                    {"model", json::Object{{"type", model.type},
                                           {"fingerprint", model.fingerprint}}},
                    {"options", std::move(values)}};
  if (!layers.empty())
    root[kLayersKey] = std::move(layers);
  if (!cluster.empty())
    root["predicted"] = json::Object{{"cluster", cluster},
                                     {"step_seconds", stepSeconds},
                                     {"memory_bytes", memoryBytes}};
  return formatv("{0:2}", json::Value(std::move(root))).str() + "\n";
}

/// Returns the first key that is not among `known`, as an error; or "".
static std::string unknownKey(const json::Object &object,
                              const std::set<std::string> &known) {
  for (const auto &[key, value] : object)
    if (!known.count(key.str())) {
      std::string list;
      for (const std::string &name : known)
        list += (list.empty() ? "'" : ", '") + name + "'";
      return "unknown key '" + key.str() + "'; a plan may have " + list;
    }
  return "";
}

static std::string readModel(const json::Object &root, ModelIdentity &model) {
  const json::Object *of = root.getObject("model");
  std::optional<StringRef> type = of ? of->getString("type") : std::nullopt,
                           print =
                               of ? of->getString("fingerprint") : std::nullopt;
  if (!type || !print)
    return "'model' must be an object with the texts 'type' and 'fingerprint'";
  model = {type->str(), print->str()};
  return unknownKey(*of, {"type", "fingerprint"});
}

static std::string readOptions(const json::Object &root, PlanFile &plan) {
  const json::Object *options = root.getObject("options");
  if (!options)
    return "'options' must be an object";
  for (const auto &[name, value] : *options) {
    std::optional<StringRef> text = value.getAsString();
    if (!text)
      return "option '" + name.str() +
             "' must be a text, as on the command line";
    if (isAboutLayers(name))
      return "option '" + name.str() +
             "' must be the list 'layers' instead, beside 'options'";
    if (std::string why = refusePlanned(name.str()); !why.empty())
      return why;
    plan.options.emplace_back(name.str(), text->str());
  }
  return "";
}

/// Adds what an entry of "layers" says to the options' texts; false: it is no
/// entry.
static bool readEntry(const json::Object &entry, std::string &recompute,
                      std::string &replicated) {
  auto textOf = [&](StringRef key) {
    return entry.getString(key).value_or("").str();
  };
  std::string numbers = textOf(kLayersKey), mode = textOf(kRecomputeKey),
              sharding = textOf(kShardingKey);
  if (numbers.find_first_not_of("0123456789-") != std::string::npos ||
      mode.find_first_of(",=") != std::string::npos)
    return false;
  bool hasMode = entry.get(kRecomputeKey),
       hasSharding = entry.get(kShardingKey);
  if (hasMode)
    recompute += (recompute.empty() ? "" : ",") + numbers + "=" + mode;
  if (hasSharding)
    replicated += (replicated.empty() ? "" : ",") + numbers;
  return !numbers.empty() && (hasMode || hasSharding) &&
         hasMode == !mode.empty() && (!hasSharding || sharding == kReplicated);
}

static std::string readLayers(const json::Object &root, PlanFile &plan) {
  if (!root.get(kLayersKey))
    return "";
  const json::Array *layers = root.getArray(kLayersKey);
  std::string recompute, replicated;
  bool isList = layers && !layers->empty();
  for (size_t i = 0; isList && i < layers->size(); ++i) {
    const json::Object *entry = (*layers)[i].getAsObject();
    isList = entry && readEntry(*entry, recompute, replicated);
    if (!isList)
      break;
    if (std::string why =
            unknownKey(*entry, {kLayersKey, kRecomputeKey, kShardingKey});
        !why.empty())
      return "'layers': " + why;
  }
  if (!isList)
    return "'layers' must be a list of objects with the text 'layers', and "
           "with 'recompute' or 'sharding' (\"replicated\"), e.g. "
           "[{\"layers\": \"0-3\", \"recompute\": \"full\"}]";
  if (!recompute.empty())
    plan.options.emplace_back(PlanFile::kRecomputeOption, recompute);
  if (!replicated.empty())
    plan.options.emplace_back(PlanFile::kReplicatedOption, replicated);
  return "";
}

static std::string readPredicted(const json::Object &root, PlanFile &plan) {
  if (!root.get("predicted"))
    return "";
  const json::Object *predicted = root.getObject("predicted");
  std::optional<StringRef> cluster =
      predicted ? predicted->getString("cluster") : std::nullopt;
  std::optional<double> seconds =
      predicted ? predicted->getNumber("step_seconds") : std::nullopt;
  std::optional<int64_t> bytes =
      predicted ? predicted->getInteger("memory_bytes") : std::nullopt;
  if (!cluster || !seconds || !bytes)
    return "'predicted' must be an object with 'cluster', 'step_seconds' and "
           "'memory_bytes'";
  plan.cluster = cluster->str();
  plan.stepSeconds = *seconds;
  plan.memoryBytes = *bytes;
  return unknownKey(*predicted, {"cluster", "step_seconds", "memory_bytes"});
}

static std::string readRoot(const json::Value &value, PlanFile &plan) {
  const json::Object *root = value.getAsObject();
  std::optional<int64_t> version =
      root ? root->getInteger(kVersionKey) : std::nullopt;
  if (!version)
    return std::string("it is no plan: the number '") + kVersionKey +
           "' is missing; docs/Planning.md says what a plan has";
  if (*version != PlanFile::kVersion)
    return formatv("the plan has version {0}, but this tessera reads version "
                   "{1}; write it again as docs/Planning.md says",
                   *version, PlanFile::kVersion);
  for (std::string why :
       {unknownKey(*root,
                   {kVersionKey, "model", "options", kLayersKey, "predicted"}),
        readModel(*root, plan.model), readOptions(*root, plan),
        readLayers(*root, plan), readPredicted(*root, plan)})
    if (!why.empty())
      return why;
  llvm::sort(plan.options);
  return "";
}

std::string plan::readPlan(const std::string &path, PlanFile &plan) {
  auto text = readText(path, json_kinds::plan);
  if (!text)
    return toString(text.takeError());
  Expected<json::Value> value =
      parseJson((*text)->getBuffer(), json_kinds::plan);
  if (!value)
    return "'" + path + "': " + toString(value.takeError());
  std::string why = readRoot(*value, plan);
  return why.empty() ? "" : "'" + path + "': " + why;
}

std::string plan::checkModel(const PlanFile &plan, const std::string &path,
                             const std::string &model) {
  ModelIdentity actual;
  if (std::string why = identify(model, actual); !why.empty())
    return why;
  if (actual.str() == plan.model.str())
    return "";
  return "'" + path + "' is a plan of another model: of " + plan.model.str() +
         ", but '" + model + "' is " + actual.str() +
         "; give a plan of this model";
}
