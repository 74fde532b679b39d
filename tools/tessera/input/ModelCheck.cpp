//===- ModelCheck.cpp - are weights of this model? ------------------------===//

#include "tools/tessera/input/ModelCheck.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Json/ParseJson.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

/// The config.json beside weights; "" where there is none, where the runtime
/// compares, and where it is the model's own.
static std::string configBeside(const DriverOptions &options,
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

/// The values in effect of a config's keys, or null after a note: what cannot
/// be read cannot be compared.
static std::optional<json::Object> keysOf(const DriverOptions &options,
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
    if (options.launch.rank == 0)
      printNote("'" + config + "', beside the weights, is not compared with " +
                "the model: " + why);
    return std::nullopt;
  }
  json::Object keys;
  auto read = (**module)->getAttrOfType<DictionaryAttr>(nn::kModelKeysAttr);
  for (NamedAttribute key : read)
    if (auto value = parseJson(cast<StringAttr>(key.getValue()).getValue()))
      keys[key.getName().getValue()] = std::move(*value);
    else
      llvm::consumeError(value.takeError());
  return keys;
}

/// Whether both have the same value, or one has none.
static bool isSame(const json::Object &own, const json::Object &other,
                   StringRef key, const std::string &config) {
  const json::Value *here = own.get(key), *there = other.get(key);
  if (!here || !there || *here == *there)
    return true;
  return !printError(
      llvm::formatv(
          "'{0}', beside the weights, is of another model: its '{1}' is {2}, "
          "that of the model here {3}; give the model that the weights are of, "
          "or, to change it, put them into a folder without a config.json",
          config, key, *there, *here)
          .str());
}

bool tessera::checkConfigBeside(const DriverOptions &options,
                                const char *metadata,
                                const std::string &weights) {
  std::string config = configBeside(options, weights);
  auto parsed = parseJson(metadata);
  const json::Object *root = parsed ? parsed->getAsObject() : nullptr;
  if (!parsed)
    llvm::consumeError(parsed.takeError());
  const json::Object *own = root ? root->getObject("model_keys") : nullptr;
  if (config.empty() || !own)
    return true;
  std::optional<json::Object> other = keysOf(options, config);
  if (!other)
    return true;
  if (!isSame(*own, *other, "model_type", config))
    return false;
  return llvm::all_of(*own, [&](const auto &entry) {
    return isSame(*own, *other, entry.first, config);
  });
}
