//===- Merge.cpp - tessera merge ------------------------------------------===//

#include "tessera/tessera.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
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

namespace {

class Merge : public Command {
public:
  void declare(CLI::App &app) override;
  int run() override;

private:
  std::string named;           ///< The model's directory; "": the adapter says.
  std::string adapter, output; ///< Directories.
};

const CommandRegistration<Merge> registration(
    {50, "merge", "Add an adapter of LoRA to the weights of its model",
     " path/to/model --adapter runs/one/step-00000300 -o merged"});

} // namespace

void Merge::declare(CLI::App &app) {
  app.add_option("model", named,
                 "Directory with the model's config.json and weights (default: "
                 "those that the adapter was trained beside)");
  beginGroup(app, "Weights", "--adapter runs/one/step-00000300 -o merged");
  app.add_option("--adapter", adapter,
                 "Directory with adapter_model.safetensors and "
                 "adapter_config.json, as peft and tessera train --lora save "
                 "them")
      ->required()
      ->type_name("DIR");
  app.add_option("-o,--output", output,
                 "Directory to write, which must not exist")
      ->required()
      ->type_name("DIR");
}

int Merge::run() {
  std::string step = modelIn(adapter), model = modelIn(named);
  if (model.empty())
    model = baseOf(step);
  if (model.empty())
    return printError("nothing says which model '" + adapter +
                      "' adapts; name its directory: tessera merge MODEL "
                      "--adapter " +
                      shellWord(adapter) + " -o " + shellWord(output));
  if (named.empty())
    printNote("the model is '" + model + "', which '" + adapter +
              "' was trained beside");
  if (llvm::Error error = checkAdapterModel(model, step))
    return printError(std::move(error));
  if (tsr_adapter_merge(model.c_str(), step.c_str(), output.c_str()) != TSR_OK)
    return printError(tsr_last_error());
  standardOutput() << "wrote " << printable(output) << "\n";
  return 0;
}
