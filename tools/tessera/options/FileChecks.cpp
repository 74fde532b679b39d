//===- FileChecks.cpp - are files where and what they must be? ------------===//

#include "tools/tessera/options/FileChecks.h"
#include "tessera/Json/LfsPointer.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

std::string inQuotes(const std::string &path) { return "'" + path + "'"; }

bool exists(const std::string &path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool isDirectory(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool isRegular(const std::string &path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Says what the command takes for a model.
std::string wantedModel(ModelKinds kinds) {
  return std::string("name a config.json, a directory that holds one, or a ") +
         (kinds == ModelKinds::SourcesAndArtifacts ? ".mlir or .tsr file"
                                                   : ".mlir file");
}

bool isLfsPointer(const std::string &path) {
  if (!isRegular(path)) // the content of a pipe is read once
    return false;
  std::ifstream file(path, std::ios::binary);
  std::string head(sizeof kLfsPointerStart - 1, '\0');
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) &&
         head == kLfsPointerStart;
}

bool holdsWeights(const fs::path &path) {
  static const char *const extensions[] = {
      ".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".npz"};
  return std::find(std::begin(extensions), std::end(extensions),
                   path.extension()) != std::end(extensions);
}

/// A file without its usual name may be a config.json all the same.
bool beginsAsJson(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  return file >> first && first == '{';
}

/// Checks a model's directory, or a file that is no program.
std::string checkConfig(const std::string &model, ModelKinds kinds) {
  if (isDirectory(model))
    return exists(model + "/config.json")
               ? ""
               : "directory " + inQuotes(model) + " holds no config.json; " +
                     wantedModel(kinds);
  if (!isRegular(model))
    return "";
  if (holdsWeights(model))
    return inQuotes(model) +
           " holds weights, and no model that can be compiled; "
           "give the config.json beside it (weights are for "
           "--load-weights of tessera train)";
  if (fs::path(model).extension() != ".json" && !beginsAsJson(model))
    return inQuotes(model) +
           " is no config.json: it does not begin with '{'; " +
           wantedModel(kinds);
  return "";
}

/// Returns why a file of a model, or a model's directory, cannot be read.
std::string checkPlace(const std::string &path, const std::string &remedy,
                       bool looksLikeAName) {
  if (!exists(path))
    return inQuotes(path) + " does not exist; " + remedy +
           (looksLikeAName ? " (nothing is downloaded)" : "");
  for (const std::string &file : {path, path + "/config.json"})
    if (isLfsPointer(file))
      return inQuotes(file) + " " + kIsLfsPointer;
  return "";
}

} // namespace

std::string tessera::checkModel(const ModelArgument &options,
                                ModelKinds kinds) {
  const std::string &model = options.model;
  if (std::string why = checkPlace(model, wantedModel(kinds),
                                   !fs::path(model).has_extension());
      !why.empty())
    return why;
  if (!options.isArtifact() && !options.isProgram())
    return checkConfig(model, kinds);
  if (isDirectory(model))
    return inQuotes(model) + " is a directory; " + wantedModel(kinds);
  return options.isArtifact() && kinds == ModelKinds::Sources
             ? inQuotes(model) + " is compiled already; give the config.json "
                                 "that it was made of"
             : "";
}

std::string tessera::checkSignable(const std::string &artifact) {
  const char *remedy = "name the .tsr file that tessera compile wrote";
  std::string why = checkPlace(artifact, remedy, /*looksLikeAName=*/false);
  if (why.empty() && isDirectory(artifact))
    why = inQuotes(artifact) + " is a directory; " + remedy;
  return why;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::string tessera::checkOutput(const std::string &path,
                                 const std::string &example) {
  if (path.empty() || path == "-")
    return "";
  std::string why = "cannot write " + inQuotes(path) + ": ";
  if (isDirectory(path))
    return why + "it is a directory; name a file, e.g. " +
           (fs::path(path) / example).string();
  std::string parent = fs::path(path).parent_path().string();
  if (parent.empty() || isDirectory(parent))
    return "";
  if (exists(parent))
    return why + inQuotes(parent) + " is no directory; name another file";
  return why + "there is no directory " + inQuotes(parent) +
         "; make it first: mkdir -p " + parent;
}

std::string tessera::checkDirectory(const std::string &flag,
                                    const std::string &path) {
  if (path.empty() || !exists(path) || isDirectory(path))
    return "";
  return flag + " " + inQuotes(path) +
         " is a file, but files are written into it; name a directory";
}

std::string tessera::checkPlanFiles(const PlanOptions &plan) {
  std::string why = checkOutput(plan.debugging.reproducer, "reproducer.mlir");
  return why.empty() ? checkDirectory("--dump-ir", plan.debugging.dumpDirectory)
                     : why;
}

std::string tessera::firstOf(std::initializer_list<std::string> reasons) {
  for (const std::string &why : reasons)
    if (!why.empty())
      return why;
  return "";
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

std::string tessera::checkInput(const std::string &flag,
                                const std::string &path,
                                const std::string &remedy) {
  if (!exists(path))
    return flag + " " + inQuotes(path) + " does not exist; " + remedy;
  if (isDirectory(path))
    return flag + " " + inQuotes(path) + " is a directory; " + remedy;
  if (isLfsPointer(path))
    return flag + " " + inQuotes(path) + " " + kIsLfsPointer;
  return "";
}

std::string tessera::checkInputs(const std::string &flag,
                                 const std::vector<std::string> &paths,
                                 const std::string &remedy) {
  for (const std::string &path : paths)
    if (std::string why = checkInput(flag, path, remedy); !why.empty())
      return why;
  return "";
}

std::string tessera::checkWeights(const std::string &path) {
  if (path.empty() || exists(path))
    return "";
  return "--load-weights " + inQuotes(path) +
         " does not exist; name a .safetensors file, or the directory of a "
         "model as transformers saves it";
}

std::string tessera::checkReadDirectory(const std::string &flag,
                                        const std::string &path,
                                        const std::string &remedy) {
  if (path.empty() || isDirectory(path))
    return "";
  return flag + " " + inQuotes(path) +
         (exists(path) ? " is no directory" : " does not exist") + "; " +
         remedy;
}

std::string tessera::checkCheckpoint(const std::string &path) {
  return checkReadDirectory(
      "--checkpoint", path,
      "name a --checkpoint-dir of tessera train, or a step in it");
}

std::string tessera::checkTokenizer(const std::string &path) {
  if (path.empty() || exists(path))
    return "";
  return "--tokenizer " + inQuotes(path) +
         " does not exist; name a folder with a tokenizer.json (nothing is "
         "downloaded)";
}

std::string tessera::checkTrusted(const ModelArgument &options) {
  return checkInputs("--trusted-key", options.trustedKeys,
                     "name a file with a public key");
}

std::string tessera::checkRunFiles(const RunSettings &options) {
  const char *data = "name files of tokens or text";
  return firstOf(
      {checkInputs("--data", options.data, data),
       checkInputs("--eval-data", options.evalData, data),
       checkTrusted(options), checkWeights(options.weights),
       checkReadDirectory(
           "--load-adapter", options.adapter,
           "name one with adapter_model.safetensors and adapter_config.json, "
           "as peft and tessera train --lora save them"),
       checkTokenizer(options.evalTokenizer)});
}

std::string tessera::checkInferenceFiles(const InferenceOptions &options) {
  return firstOf({checkTrusted(options), checkWeights(options.weights),
                  checkCheckpoint(options.checkpoint)});
}
