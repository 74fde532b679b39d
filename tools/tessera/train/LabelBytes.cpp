//===- LabelBytes.cpp - bytes of text that labels stand for ---------------===//

#include "tools/tessera/train/LabelBytes.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/OpenData.h"
#include <algorithm>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

bool tessera::isMasked(const tsr_artifact *artifact) {
  return modelOf(artifact).maskToken.has_value();
}

std::string tessera::tokenizerBeside(const ModelArgument &options) {
  if (options.isArtifact() || options.isProgram())
    return "";
  std::error_code error;
  fs::path folder = options.model;
  if (!fs::is_directory(folder, error))
    folder = folder.parent_path();
  for (const char *name : {"tokenizer.json", "tokenizer.model"})
    if (fs::exists(folder / name, error))
      return (folder / name).parent_path().string();
  return "";
}

bool LabelBytes::giveUp(const std::string &why) {
  tokenizer.reset();
  bytes = 0;
  if (isAskedFor)
    return !printError("--tokenizer '" + path + "': " + why);
  printNote("no bits per byte by the tokenizer '" + path + "': " + why);
  return true;
}

bool LabelBytes::open(const RunSettings &options,
                      const tsr_artifact *artifact) {
  // Only the first process prints.
  if (options.launch.rank != 0)
    return true;
  isAskedFor = !options.evalTokenizer.empty();
  path = isAskedFor ? options.evalTokenizer : tokenizerBeside(options);
  bool isOfMasks = isMasked(artifact);
  if (isOfMasks && isAskedFor)
    return giveUp("bits per byte are of models that predict every token, and "
                  "a masked one predicts a few; leave it out");
  if (path.empty() || isOfMasks)
    return true;
  bool isPair = tsr_artifact_target(artifact) > 0;
  firstLabel = isPair ? tsr_artifact_sequence(artifact) : 1;
  padding = isPair ? modelOf(artifact).padToken.value_or(-1) : -1;
  tsr_tokenizer *loaded = nullptr;
  if (tsr_tokenizer_load(path.c_str(), &loaded) != TSR_OK)
    return giveUp(tsr_last_error());
  tokenizer.reset(loaded);
  int64_t size = tsr_tokenizer_vocabulary_size(loaded),
          most = tsr_artifact_vocabulary(artifact);
  if (size > most)
    return giveUp("it has a vocabulary of " + std::to_string(size) +
                  ", the model one of " + std::to_string(most) +
                  "; name the tokenizer of the data");
  return true;
}

bool LabelBytes::add(const std::vector<int32_t> &batch, int64_t columns) {
  if (!tokenizer)
    return true;
  for (auto row = batch.begin(); row != batch.end(); row += columns) {
    std::vector<int32_t> ids(row, row + columns);
    ids.erase(std::remove(ids.begin() + firstLabel, ids.end(), padding),
              ids.end());
    int64_t added = 0;
    if (tsr_tokenizer_count_bytes(tokenizer.get(), ids.data(), ids.size(),
                                  static_cast<size_t>(firstLabel),
                                  TSR_WITHOUT_SPECIAL, &added) != TSR_OK)
      return giveUp(std::string("the data is of another one: ") +
                    tsr_last_error());
    bytes += added;
  }
  return true;
}
