//===- Adapter.cpp - tsr_session_load_adapter -----------------------------===//
#include "runtime/checkpoint/Adapter.h"

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/ForeignWeights.h"
#include "runtime/checkpoint/SameModel.h"
#include "runtime/checkpoint/WeightNames.h"
#include "runtime/session/Quantize.h"
#include "runtime/support/JsonLimits.h"

#include <cmath>
#include <set>

namespace tessera {

//===----------------------------------------------------------------------===//
// adapter_config.json
//===----------------------------------------------------------------------===//

/// Keys of methods that add more to a model than products of A and B, or scale
/// them in other ways; absent, or empty in one way or another, where they are
/// not used.
static constexpr const char *otherKinds[] = {"use_rslora",
                                             "use_dora",
                                             "use_qalora",
                                             "bias",
                                             "lora_bias",
                                             "modules_to_save",
                                             "rank_pattern",
                                             "alpha_pattern",
                                             "layer_replication",
                                             "target_parameters",
                                             "trainable_token_indices",
                                             "alora_invocation_tokens"};

static bool isUnused(const nlohmann::json &value) {
  return value.is_null() || value == false || value == "none" ||
         (value.is_structured() && value.empty());
}

AdapterConfig readAdapterConfig(const std::string &source,
                                const std::string &text) {
  JsonTree parsed = parseJson(source, text, json_kinds::adapter);
  JsonView root(parsed.root, source);
  if (const std::string &kind = root.at("peft_type").text(); kind != "LORA")
    fail(TSR_UNSUPPORTED, source, " is of an adapter of type ", kind,
         "; only LORA is supported");
  for (const char *key : otherKinds)
    if (root.has(key) && !isUnused(root.at(key).raw()))
      fail(TSR_UNSUPPORTED, source, " has '", key,
           "', which is not supported; only plain LoRA is: products of A and B "
           "beside linear layers, scaled by lora_alpha / r");
  AdapterConfig config = {};
  config.rank = root.at("r").integer(1, INT64_MAX);
  config.alpha = root.at("lora_alpha").number();
  if (!std::isfinite(config.alpha))
    root.at("lora_alpha").refuse("must be finite");
  config.transposed =
      root.has("fan_in_fan_out") && root.at("fan_in_fan_out").raw() == true;
  return config;
}

static AdapterConfig readConfigOf(const std::string &directory) {
  if (!isDirectory(directory))
    fail(TSR_NOT_FOUND, "'", directory, "' is no directory; an adapter is one ",
         "with ", adapterConfigFile, " and ", adapterFile);
  std::string path = concat(directory, "/", adapterConfigFile);
  return readAdapterConfig(concat("'", path, "'"),
                           readJsonText(InputFile(path), json_kinds::adapter));
}

static std::string adapterFileIn(const std::string &directory) {
  std::string path = concat(directory, "/", adapterFile);
  std::string other = isFile(path) ? "" : describeOtherWeights(directory);
  if (!other.empty())
    fail(TSR_UNSUPPORTED, "'", directory, "' holds no '", adapterFile,
         "', but ", other);
  return path;
}

AdapterFiles::AdapterFiles(const std::string &directory)
    : config(readConfigOf(directory)), tensors(adapterFileIn(directory)) {}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

bool isOfAdapter(const std::string &name) {
  return name.compare(0, std::string(adapterPrefix).size(), adapterPrefix) == 0;
}

bool hasAdapters(const Metadata &metadata) {
  for (const TensorInfo &tensor : metadata.tensors)
    if (tensor.role == Role::Parameter && isOfAdapter(tensor.name))
      return true;
  return false;
}

void checkAdapterConfig(const Metadata &metadata,
                        const std::string &directory) {
  AdapterConfig found = readConfigOf(directory);
  auto own = metadata.configFiles.find(adapterConfigFile);
  if (!hasAdapters(metadata) || own == metadata.configFiles.end())
    fail(TSR_MISMATCH, "the artifact has no adapters for '", directory,
         "'; compile with --lora r=", found.rank, ",alpha=", found.alpha,
         " and the targets of its ", adapterConfigFile);
  AdapterConfig wanted =
      readAdapterConfig("the adapters of the artifact", own->second);
  if (found.rank != wanted.rank || found.alpha != wanted.alpha)
    fail(TSR_MISMATCH, "'", directory, "' has r = ", found.rank,
         " and lora_alpha = ", found.alpha, ", the artifact ", wanted.rank,
         " and ", wanted.alpha, "; compile with --lora r=", found.rank,
         ",alpha=", found.alpha);
}

/// Classes with a head and those without name a module in two ways.
static std::string plainModule(const std::string &name) {
  return plainName(isOfAdapter(name)
                       ? name.substr(std::string(adapterPrefix).size())
                       : name);
}

namespace {
struct AdapterMatch {
  const TensorInfo *parameter;
  const FileTensor *tensor;
};

/// Matches all tensors of an adapter with all its parameters.
class AdapterMatching {
public:
  AdapterMatching(const Metadata &metadata, const std::string &directory)
      : metadata(metadata), files(directory) {
    checkAdapterConfig(metadata, directory);
    for (const auto &[name, tensor] : files.tensors.tensors())
      byName[plainModule(name)] = tensor;
    for (const TensorInfo &tensor : metadata.tensors)
      if (tensor.role == Role::Parameter && isOfAdapter(tensor.name))
        match(tensor);
    checkRest();
  }

  std::vector<AdapterMatch> matches;

private:
  void match(const TensorInfo &parameter);
  void checkRest() const;

  const Metadata &metadata;
  AdapterFiles files;
  std::map<std::string, const FileTensor *> byName;
};

void AdapterMatching::match(const TensorInfo &parameter) {
  const std::string &path = files.tensors.path();
  auto found = byName.find(plainModule(parameter.name));
  if (found == byName.end())
    fail(TSR_MISMATCH, "'", path, "' has no tensor '", parameter.name,
         "': it adapts other layers than the artifact; compile with the "
         "target_modules of its ",
         adapterConfigFile);
  const FileTensor &tensor = *found->second;
  if (tensor.shape != parameter.fileShape)
    fail(TSR_MISMATCH, "'", path, "': '", parameter.name, "' has shape ",
         describeShape(tensor.shape), ", the artifact has ",
         describeShape(parameter.fileShape),
         "; it is the adapter of another model");
  if (fileElementBytes(tensor.dtype) == 0)
    fail(TSR_MISMATCH, "'", path, "': '", parameter.name, "' is ", tensor.dtype,
         ", use F32, F64, BF16 or F16");
  checkFinite(path, parameter.name, tensor);
  matches.push_back({&parameter, &tensor});
}

void AdapterMatching::checkRest() const {
  std::set<const FileTensor *> used;
  for (const AdapterMatch &match : matches)
    used.insert(match.tensor);
  for (const auto &[name, tensor] : files.tensors.tensors())
    if (used.count(tensor) == 0)
      fail(TSR_MISMATCH, "'", files.tensors.path(), "' has a tensor '", name,
           "' that the artifact has not: it adapts other layers; compile with "
           "the target_modules of its ",
           adapterConfigFile);
}
} // namespace

/// An adapter adds to the weights that it was trained beside.
static void checkTrainedBeside(const Session &session,
                               const std::string &directory) {
  const std::optional<Manifest> manifest = manifestBeside(directory);
  if (!manifest)
    return;
  checkSameModel(session.metadata().modelKeys, manifest->modelKeys, directory);
  checkSameBase(session.base(), trainedBase(*manifest, directory),
                session.base().path, directory);
}

void checkAdapter(const Metadata &metadata, const std::string &directory) {
  AdapterMatching(metadata, directory);
}

void loadAdapter(Session &session, const std::string &given) {
  session.checkAlive();
  const std::string directory = checkpointIn(given);
  if (!session.isReady())
    fail(TSR_INVALID_ARGUMENT,
         "the parameters of the model are undefined; call tsr_session_init or "
         "tsr_session_load_weights first");
  std::unique_ptr<AdapterMatching> matching;
  session.together([&] {
    checkTrainedBeside(session, directory);
    matching = std::make_unique<AdapterMatching>(session.metadata(), directory);
  });
  session.checkSameFiles({concat(directory, "/", adapterConfigFile),
                          concat(directory, "/", adapterFile)});
  session.fillOnEveryRank([&](Rank &rank) {
    for (const AdapterMatch &match : matching->matches) {
      Source source = [&](int64_t first, int64_t count, double *out) {
        widenFile(*match.tensor, first, count, out);
      };
      writeParameter(rank, *match.parameter, source);
    }
  });
  session.setNotes({});
}

} // namespace tessera
