//===- SharedFiles.cpp - files that all processes read alike --------------===//

#include "tools/tessera/input/SharedFiles.h"
#include "tessera/Json/ReadText.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/train/RunRecord.h"
#include "tools/tessera/train/Training.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <filesystem>
#include <map>

using namespace tessera;
namespace fs = std::filesystem;

/// These files of a model's folder decide what is compiled, which tokens there
/// are or how texts end.
static constexpr const char *kBesideModel[] = {
    "config.json",       "generation_config.json",
    "tokenizer.json",    "tokenizer.model",
    "vocab.json",        "merges.txt",
    "vocab.txt",         "tokenizer_config.json",
    "added_tokens.json", "special_tokens_map.json"};

static std::string contentOf(const std::string &path) {
  constexpr uint64_t most = uint64_t(4) << 30;
  auto file = readText(path, most, "a file beside a model");
  if (!file) {
    llvm::consumeError(file.takeError());
    return "which is not there";
  }
  llvm::StringRef bytes = (*file)->getBuffer();
  return llvm::formatv("{0} bytes (hash {1:x-16})", bytes.size(),
                       llvm::xxh3_64bits(bytes))
      .str();
}

namespace {
using Shared = std::vector<std::pair<std::string, std::string>>;

/// The name leaves out the folder: each host may keep the files elsewhere.
void share(Shared &shared, const fs::path &path) {
  shared.emplace_back("the file '" + path.filename().string() + "'",
                      contentOf(path.string()));
}

void shareBeside(Shared &shared, const fs::path &folder,
                 const fs::path &model = {}) {
  for (const char *name : kBesideModel)
    if (model != folder / name)
      share(shared, folder / name);
}

/// Shares the files of a checkpoint as its manifest lists them, before options
/// that follow from it: an error is to name the file that differs. They are
/// sorted by name, because an object has no order.
void shareManifest(const std::string &directory, Shared &shared) {
  std::optional<llvm::json::Object> manifest = manifestIn(directory);
  const llvm::json::Object *files =
      manifest ? manifest->getObject("files") : nullptr;
  std::map<std::string, std::string> contents;
  if (files)
    for (const auto &[name, value] : *files)
      if (const llvm::json::Object *file = value.getAsObject())
        contents[name.str()] =
            llvm::formatv("{0} bytes (hash {1})",
                          file->getInteger("bytes").value_or(0),
                          file->getString("xxh3_64").value_or(""))
                .str();
  for (const auto &[name, content] : contents)
    shared.emplace_back("the file '" + name + "' of the checkpoint", content);
}

/// Shares which checkpoint the run goes on from, and the files of its best one.
void shareCheckpoint(const TrainOptions &options, Shared &shared) {
  shared.emplace_back("as the newest checkpoint",
                      options.resumes ? findCheckpoint(options.resumeDir)
                                      : "none that it resumes");
  if (options.resumes)
    shareManifest(options.resumeDir, shared);
  if (!options.keepsBest)
    return;
  for (const char *name : {"best/manifest.json", "best/evaluation.json"})
    shared.emplace_back(std::string("the file '") + name + "'",
                        contentOf(options.checkpointDir + "/" + name));
}

void shareModel(const PlannedModel &options, Shared &shared) {
  if (!options.planFile.empty())
    share(shared, options.planFile);
  fs::path model = options.model;
  std::error_code error;
  bool isFolder = fs::is_directory(model, error);
  if (!isFolder && !options.isArtifact()) // the session compares artifacts
    share(shared, model);
  if (!options.isArtifact() && !options.isProgram())
    shareBeside(shared, isFolder ? model : model.parent_path(), model);
}

void shareQuestions(const std::string &questions, const std::string &tokenizer,
                    Shared &shared) {
  if (questions.empty())
    return;
  share(shared, questions);
  std::error_code error;
  if (fs::is_directory(tokenizer, error))
    shareBeside(shared, tokenizer);
  else if (!tokenizer.empty())
    share(shared, tokenizer);
}

/// They come first: options follow from them, such as those of a plan.
void putFirst(const Shared &files, Shared &shared) {
  shared.insert(shared.begin(), files.begin(), files.end());
}
} // namespace

void tessera::shareFiles(TrainOptions &options) {
  if (options.launch.isAlone())
    return;
  Shared files;
  shareModel(options, files);
  shareCheckpoint(options, files);
  putFirst(files, options.shared);
}

void tessera::shareFiles(RunSettings &options, const std::string &questions) {
  if (options.launch.isAlone())
    return;
  Shared files;
  shareModel(options, files);
  shareQuestions(questions, options.evalTokenizer, files);
  putFirst(files, options.shared);
}
