//===- ModelFiles.cpp - what lies beside a model --------------------------===//

#include "tools/tessera/input/ModelFiles.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tessera/tessera.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/Training.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tessera;

std::string tessera::modelIn(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path) ||
      llvm::sys::fs::exists(path + "/config.json"))
    return path;
  std::string step = path + "/" + findCheckpoint(path);
  return llvm::sys::fs::exists(step + "/config.json") ? step : path;
}

std::string tessera::findModel(PlannedModel &options, ModelKinds kinds) {
  options.model = modelIn(options.model);
  return firstOf({checkModel(options, kinds), checkPlanFiles(options.plan)});
}

std::string tessera::modelFolder(const ModelArgument &options) {
  if (llvm::sys::fs::is_directory(options.model))
    return options.model;
  std::string path = options.model;
  size_t end = path.find_last_of('/');
  return end == std::string::npos ? "." : path.substr(0, end);
}

static bool holdsTokenizer(const std::string &folder) {
  for (const char *name : {"tokenizer.json", "tokenizer.model", "vocab.json",
                           "vocab.txt", "spiece.model", "modules.json"})
    if (llvm::sys::fs::exists(folder + "/" + name))
      return true;
  return false;
}

std::string tessera::folderBesideWeights(const TrainOptions &options) {
  std::string weights = options.weights;
  if (!weights.empty() && !llvm::sys::fs::is_directory(weights))
    weights = llvm::sys::path::parent_path(weights).str();
  for (const std::string &folder :
       {modelFolder(options), weights, options.resumeDir})
    for (const std::string &step :
         {folder, folder + "/" + findCheckpoint(folder)})
      if (!folder.empty() && holdsTokenizer(step))
        return step;
  return "";
}

llvm::json::Object tessera::jsonObjectIn(const std::string &path) {
  if (!llvm::sys::fs::exists(path))
    return {};
  auto file = readText(path, json_kinds::config);
  if (!file) {
    printNote(llvm::toString(file.takeError()) + "; it is left aside");
    return {};
  }
  auto parsed = parseJson((*file)->getBuffer(), json_kinds::config);
  if (!parsed) {
    printNote("'" + path + "' is left aside, since it is not JSON: " +
              llvm::toString(parsed.takeError()));
    return {};
  }
  llvm::json::Object *object = parsed->getAsObject();
  return object ? std::move(*object) : llvm::json::Object();
}

std::string tessera::modelTokenizer(const ModelArgument &options,
                                    const std::string &named) {
  std::string path = named, folder = modelFolder(options);
  for (const char *name : {"/tokenizer.json", "/tokenizer.model"})
    if (path.empty() && llvm::sys::fs::exists(folder + name))
      path = folder;
  return path;
}

static llvm::Expected<std::string>
stepOfCheckpoint(const std::string &directory) {
  if (llvm::sys::fs::exists(directory + "/manifest.json"))
    return directory;
  std::string newest = findCheckpoint(directory);
  if (!newest.empty())
    return directory + "/" + newest;
  return llvm::createStringError(
      "--checkpoint '" + directory +
      "' holds no complete checkpoint; name a --checkpoint-dir of tessera "
      "train, or a step in it");
}

std::string tessera::weightsBeside(const ModelArgument &options) {
  if (options.isArtifact() || options.isProgram())
    return "";
  std::string folder = modelFolder(options);
  if (tsr_weights_find(folder.c_str()) == TSR_NOT_FOUND)
    return "";
  for (const char *name :
       {"/model.safetensors", "/model.safetensors.index.json"})
    if (llvm::sys::fs::exists(folder + name))
      return "'" + folder + name + "'";
  return "a file of weights in '" + folder + "'";
}

llvm::Expected<std::string> tessera::modelWeights(const ModelArgument &options,
                                                  const NamedWeights &named) {
  if (!named.checkpoint.empty())
    return stepOfCheckpoint(named.checkpoint);
  if (!named.weights.empty())
    return named.weights;
  std::string folder = modelFolder(options);
  switch (tsr_weights_find(folder.c_str())) {
  case TSR_OK:
    return folder;
  case TSR_NOT_FOUND:
    return llvm::createStringError(
        llvm::Twine("nothing says which parameters the model has; give "
                    "--load-weights or --checkpoint"));
  default:
    return llvm::createStringError(llvm::Twine(tsr_last_error()));
  }
}
