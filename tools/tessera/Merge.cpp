//===- Merge.cpp - tessera merge ------------------------------------------===//

#include "tessera/tessera.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/RunRecord.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

static bool exists(const llvm::Twine &path) {
  return llvm::sys::fs::exists(path);
}

/// Returns the model that an adapter was trained beside: where that was, or
/// what the checkpoint keeps of it, or what peft says. "" if it is not known.
static std::string baseOf(const std::string &adapter) {
  std::optional<llvm::json::Object> manifest = manifestIn(adapter);
  const llvm::json::Object *base =
      manifest ? manifest->getObject("base") : nullptr;
  std::string path = base ? base->getString("path").value_or("").str() : "";
  if (!path.empty() && exists(path)) {
    llvm::StringRef folder = llvm::sys::path::parent_path(path);
    return exists(folder + "/config.json") ? folder.str() : path;
  }
  for (const char *name :
       {"/model.safetensors", "/model.safetensors.index.json"})
    if (exists(adapter + name))
      return adapter;
  llvm::json::Object config = jsonObjectIn(adapter + "/adapter_config.json");
  std::string named =
      config.getString("base_model_name_or_path").value_or("").str();
  return exists(named) ? named : "";
}

int tessera::runMerge(const DriverOptions &options) {
  std::string adapter = modelIn(options.adapter), model = options.model;
  if (model.empty())
    model = baseOf(adapter);
  if (model.empty())
    return printError("nothing says which model '" + options.adapter +
                      "' adapts; name its directory: tessera merge MODEL "
                      "--adapter " +
                      shellWord(options.adapter) + " -o " +
                      shellWord(options.output));
  if (options.model.empty())
    printNote("the model is '" + model + "', which '" + options.adapter +
              "' was trained beside");
  if (!checkAdapterModel(model, adapter))
    return 1;
  if (tsr_adapter_merge(model.c_str(), adapter.c_str(),
                        options.output.c_str()) != TSR_OK)
    return printError(tsr_last_error());
  standardOutput() << "wrote " << printable(options.output) << "\n";
  return 0;
}
