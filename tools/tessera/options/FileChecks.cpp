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

/// What the command takes for a model.
std::string wantedModel(const DriverOptions &options) {
  if (options.command == Command::Sign)
    return "name the .tsr file that tessera compile wrote";
  bool takesArtifacts = options.command == Command::Report ||
                        options.command == Command::Simulate ||
                        options.command == Command::Generate ||
                        options.command == Command::Encode || options.isRun();
  return std::string("name a config.json, a directory that holds one, or a ") +
         (takesArtifacts ? ".mlir or .tsr file" : ".mlir file");
}

bool isLfsPointer(const std::string &path) {
  if (!isRegular(path)) // what a pipe gives is read once
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

/// Returns a model's directory, or a file that is no program.
std::string checkConfig(const DriverOptions &options) {
  const std::string &model = options.model;
  if (isDirectory(model))
    return exists(model + "/config.json")
               ? ""
               : "directory " + inQuotes(model) + " holds no config.json; " +
                     wantedModel(options);
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
           wantedModel(options);
  return "";
}

std::string checkModel(const DriverOptions &options) {
  const std::string &model = options.model;
  if (options.command == Command::Doctor ||
      options.command == Command::Calibrate ||
      options.command == Command::Tokenize || options.command == Command::Merge)
    return ""; // merge: the runtime reads them
  if (!exists(model)) {
    bool looksLikeAName =
        options.command != Command::Sign && !fs::path(model).has_extension();
    return inQuotes(model) + " does not exist; " + wantedModel(options) +
           (looksLikeAName ? " (nothing is downloaded)" : "");
  }
  for (const std::string &path : {model, model + "/config.json"})
    if (isLfsPointer(path))
      return inQuotes(path) + " " + kIsLfsPointer;
  bool isFile = options.isArtifact() || options.isProgram() ||
                options.command == Command::Sign;
  if (isFile)
    return isDirectory(model)
               ? inQuotes(model) + " is a directory; " + wantedModel(options)
               : "";
  return checkConfig(options);
}

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

/// A file to write, where one is asked for.
std::string checkOutput(const std::string &path, const std::string &example) {
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

/// A directory that is made where there is none.
std::string checkDirectory(const std::string &flag, const std::string &path) {
  if (path.empty() || !exists(path) || isDirectory(path))
    return "";
  return flag + " " + inQuotes(path) +
         " is a file, but files are written into it; name a directory";
}

std::string firstOf(std::initializer_list<std::string> reasons) {
  for (const std::string &why : reasons)
    if (!why.empty())
      return why;
  return "";
}

//===----------------------------------------------------------------------===//
// What a run reads
//===----------------------------------------------------------------------===//

std::string checkInput(const std::string &flag, const std::string &path,
                       const std::string &remedy) {
  if (!exists(path))
    return flag + " " + inQuotes(path) + " does not exist; " + remedy;
  if (isDirectory(path))
    return flag + " " + inQuotes(path) + " is a directory; " + remedy;
  if (isLfsPointer(path))
    return flag + " " + inQuotes(path) + " " + kIsLfsPointer;
  return "";
}

std::string checkWeights(const std::string &path) {
  if (path.empty() || exists(path))
    return "";
  return "--load-weights " + inQuotes(path) +
         " does not exist; name a .safetensors file, or the directory of a "
         "model as transformers saves it";
}

std::string checkAdapter(const std::string &path) {
  if (path.empty() || isDirectory(path))
    return "";
  return "--load-adapter " + inQuotes(path) +
         (exists(path) ? " is no directory" : " does not exist") +
         "; name one with adapter_model.safetensors and adapter_config.json, "
         "as peft and tessera train --lora save them";
}

std::string checkCheckpoint(const std::string &path) {
  if (path.empty() || isDirectory(path))
    return "";
  return "--checkpoint " + inQuotes(path) +
         (exists(path) ? " is no directory" : " does not exist") +
         "; name a --checkpoint-dir of tessera train, or a step in it";
}

std::string checkResumed(const DriverOptions &options) {
  if (!options.resumes || isDirectory(options.resumeDir))
    return "";
  return "--resume " + inQuotes(options.resumeDir) +
         (exists(options.resumeDir) ? " is no directory" : " does not exist") +
         "; name the --checkpoint-dir of the run that is to go on";
}

std::string checkTokenizer(const std::string &path) {
  if (path.empty() || exists(path))
    return "";
  return "--tokenizer " + inQuotes(path) +
         " does not exist; name a folder with a tokenizer.json (nothing is "
         "downloaded)";
}

/// What tokenize reads.
std::string checkTexts(const TokenizeOptions &options) {
  for (const std::string &path : options.texts)
    if (std::string why = path == "-" ? ""
                                      : checkInput("text", path,
                                                   "name files of text, or - "
                                                   "for the standard input");
        !why.empty())
      return why;
  return checkTokenizer(options.tokenizer);
}

/// The name of a file that the command might write.
std::string exampleOutput(Command command) {
  return command == Command::Import      ? "model.mlir"
         : command == Command::Tokenize  ? "data.bin"
         : command == Command::Calibrate ? "machine.toml"
         : command == Command::Plan      ? "plan.json"
                                         : "model.tsr";
}

} // namespace

std::string tessera::checkFiles(const DriverOptions &options) {
  bool isSigned = options.command == Command::Sign;
  return firstOf(
      {checkModel(options), checkTexts(options.tokenize),
       isSigned ? checkInput("--key", options.key,
                             "make one with: openssl genpkey -algorithm "
                             "ed25519 -out key.pem")
                : "",
       options.command == Command::Merge
           ? ""
           : checkOutput(options.output, exampleOutput(options.command)),
       options.simulate.measured.empty()
           ? ""
           : checkInput("--measured", options.simulate.measured,
                        "name a file that tessera train --trace wrote"),
       checkOutput(options.scheduleSvg, "schedule.svg"),
       checkOutput(options.html, "page.html"),
       checkOutput(options.plan.debugging.reproducer, "reproducer.mlir"),
       checkDirectory("--dump-ir", options.plan.debugging.dumpDirectory)});
}

std::string tessera::checkRunFiles(const DriverOptions &options) {
  for (auto [flag, paths] : {std::pair{"--data", &options.data},
                             std::pair{"--eval-data", &options.evalData}})
    for (const std::string &path : *paths)
      if (std::string why =
              checkInput(flag, path, "name files of tokens or text");
          !why.empty())
        return why;
  for (const std::string &path : options.trustedKeys)
    if (std::string why =
            checkInput("--trusted-key", path, "name a file with a public key");
        !why.empty())
      return why;
  if (!options.choices.empty())
    if (std::string why =
            checkInput("--choices", options.choices,
                       "name a file of lines {\"prompt\": ..., \"choices\": "
                       "[...], \"answer\": k}");
        !why.empty())
      return why;
  return firstOf({checkWeights(options.weights), checkAdapter(options.adapter),
                  checkResumed(options), checkCheckpoint(options.checkpoint),
                  checkTokenizer(options.evalTokenizer),
                  checkDirectory("--checkpoint-dir", options.checkpointDir),
                  checkDirectory("--tensorboard", options.tensorboard),
                  options.cluster.empty()
                      ? ""
                      : checkInput("--cluster", options.cluster,
                                   "name a file that tessera calibrate wrote, "
                                   "or one of clusters"),
                  checkOutput(options.log, "steps.jsonl"),
                  checkOutput(options.trace, "step.json")});
}
