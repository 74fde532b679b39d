//===- ModelCheck.cpp - are weights of this model? ------------------------===//

#include "tools/tessera/input/ModelCheck.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Program/ProgramJson.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/RunRecord.h"
#include "tools/tessera/train/StepLog.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <iterator>

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

/// Returns the config.json beside weights; "" if there is none, if the runtime
/// compares it, or if it is the model's own.
static std::string configBeside(const PlannedModel &options,
                                const std::string &weights) {
  SmallString<128> folder(weights);
  if (!llvm::sys::fs::is_directory(weights))
    folder = llvm::sys::path::parent_path(weights);
  std::string prefix = folder.empty() ? "" : folder.str().str() + "/";
  std::string config = prefix + "config.json";
  std::string own = llvm::sys::fs::is_directory(options.model)
                        ? options.model + "/config.json"
                        : options.model;
  bool isKnown = llvm::sys::fs::exists(prefix + "manifest.json") ||
                 llvm::sys::fs::equivalent(config, own);
  return !isKnown && llvm::sys::fs::exists(config) ? config : "";
}

/// Returns the values in effect of a config's keys, or nothing after a note:
/// what cannot be read cannot be compared.
static std::optional<json::Object> keysOf(const PlannedModel &options,
                                          const std::string &config) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry);
  std::string why;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && why.empty())
      why = diagnostic.str();
    return success();
  });
  ImportOptions import;
  import.forEncoding = encodes(options.plan.programs);
  auto module = importModel(&context, config, import);
  if (failed(module)) {
    if (options.isFirstProcess)
      printNote("'" + config + "', beside the weights, is not compared with " +
                "the model: " + why);
    return std::nullopt;
  }
  // The keys are copied: the attributes end with their context.
  json::Object keys;
  auto read = (**module)->getAttrOfType<DictionaryAttr>(nn::kModelKeysAttr);
  for (NamedAttribute key : read)
    if (auto value = parseJson(cast<StringAttr>(key.getValue()).getValue(),
                               json_kinds::config))
      keys[key.getName().str()] = std::move(*value);
    else
      llvm::consumeError(value.takeError());
  return keys;
}

/// Writes numbers with as few digits as tell them apart.
static std::string textOf(const json::Value &value) {
  std::optional<double> number = value.getAsNumber();
  if (!number || value.getAsInteger())
    return llvm::formatv("{0}", value).str();
  return exactText(*number);
}

/// Returns the first key for which both have a value, but not the same one; the
/// family's key comes before all others. Returns "" if there is none.
static std::string differingKey(const json::Object &own,
                                const json::Object &other) {
  std::vector<StringRef> keys = {"model_type"};
  for (const auto &entry : own)
    keys.push_back(entry.first);
  llvm::sort(std::next(keys.begin()), keys.end());
  for (StringRef key : keys) {
    const json::Value *here = own.get(key), *there = other.get(key);
    if (here && there && *here != *there)
      return key.str();
  }
  return "";
}

llvm::Error tessera::checkConfigBeside(const PlannedModel &options,
                                       const char *metadata,
                                       const std::string &weights) {
  std::string config = configBeside(options, weights);
  llvm::Expected<program::Program> read = program::readProgram(metadata);
  if (!read)
    llvm::consumeError(read.takeError()); // The runtime has parsed it, too.
  const json::Object *own =
      read && read->modelKeys ? &*read->modelKeys : nullptr;
  if (config.empty() || !own)
    return llvm::Error::success();
  std::optional<json::Object> other = keysOf(options, config);
  std::string key = other ? differingKey(*own, *other) : "";
  if (key.empty())
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + config + "', beside the weights, is of another model: its '" + key +
      "' is " + textOf(*other->get(key)) + ", that of the model here " +
      textOf(*own->get(key)) +
      "; give the model that the weights are of, or, to change "
      "it, put them into a folder without a config.json");
}

llvm::Expected<std::string> tessera::checkedWeights(const PlannedModel &options,
                                                    const NamedWeights &named,
                                                    const char *metadata) {
  llvm::Expected<std::string> weights = modelWeights(options, named);
  if (!weights)
    return weights;
  if (llvm::Error error = checkConfigBeside(options, metadata, *weights))
    return error;
  return weights;
}

llvm::Error tessera::checkAdapterModel(const std::string &model,
                                       const std::string &adapter) {
  std::string config = model + "/config.json";
  std::optional<json::Object> manifest = manifestIn(adapter);
  const json::Object *own =
      manifest ? manifest->getObject("model_keys") : nullptr;
  if (!own || !llvm::sys::fs::exists(config))
    return llvm::Error::success();
  std::optional<json::Object> other = keysOf(PlannedModel(), config);
  std::string key = other ? differingKey(*own, *other) : "";
  if (key.empty())
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + config + "' is of another model than '" + adapter + "': its '" +
      key + "' is " + textOf(*other->get(key)) +
      ", that of the adapter's model " + textOf(*own->get(key)) +
      "; give the model that it was trained beside");
}
