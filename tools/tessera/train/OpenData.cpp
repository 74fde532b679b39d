//===- OpenData.cpp - the data of a run -----------------------------------===//

#include "tools/tessera/train/OpenData.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/printable.hpp"
#include "tools/tessera/input/HashingText.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/LabelBytes.h"
#include <filesystem>

using namespace tessera;

/// Files, and what is read of them.
struct Chosen {
  const std::vector<std::string> &files;
  const std::vector<double> &weights;
  double validationFraction = 0;
  const char *part = nullptr;
};

/// A model that has a tokenizer reads bytes only if it is told to. Prints an
/// error and returns false.
static bool isMeant(const RunSettings &options, const tsr_data *data,
                    const std::string &file) {
  std::string tokenizer = tokenizerBeside(options);
  if (tokenizer.empty() || options.dataFormat != "auto" || !isOfBytes(data))
    return true;
  return !printError("'" + file +
                     "' is text, but the model has a tokenizer, so its tokens "
                     "are not bytes; make tokens with: tessera tokenize " +
                     shellWord(file) + " --tokenizer " + shellWord(tokenizer) +
                     " -o data.bin, and read data.bin instead; or train on "
                     "bytes with --data-format text");
}

program::Model tessera::modelOf(const tsr_artifact *artifact) {
  llvm::Expected<program::Program> read =
      program::readProgram(tsr_artifact_metadata(artifact));
  if (read)
    return std::move(read->model);
  llvm::consumeError(read.takeError()); // The runtime has parsed it, too.
  return {};
}

DataSizes tessera::dataSizesOf(const tsr_artifact *artifact) {
  program::Model model = modelOf(artifact);
  return {tsr_artifact_sequence(artifact), tsr_artifact_target(artifact),
          tsr_artifact_vocabulary(artifact), model.maskToken.has_value(),
          model.specialTokens};
}

/// Special tokens must be known to be left alone, and must not be bytes of a
/// text. Prints an error and returns false if not.
static bool isMaskable(const DataSizes &sizes, const tsr_data *data,
                       const std::string &file) {
  if (!sizes.isMasked)
    return true;
  const char *names = "--special-ids 0,2,3, or --special-ids none";
  if (!isOfBytes(data))
    return sizes.special ||
           !printError(
               "'" + file +
               "' holds tokens, but which of them are special ([CLS], "
               "[SEP], [PAD] and others) is not known, and training "
               "must neither mask nor predict these; put the files of "
               "the tokenizer beside the config.json, or compile with " +
               names);
  for (int64_t id : sizes.special.value_or(std::vector<int64_t>()))
    if (id >= ' ' && id < 256)
      return !printError("'" + file +
                         "' is text, whose tokens are bytes, but "
                         "the special token " +
                         std::to_string(id) +
                         " of the model is a byte of text, too, which would "
                         "never be masked; compile with --special-ids none");
  return true;
}

/// Says why nothing happens for a while.
static void describeCheck(const RunSettings &options, const Chosen &chosen) {
  constexpr uint64_t many = uint64_t(16) << 30;
  uint64_t bytes = 0;
  std::error_code error;
  for (const std::string &path : chosen.files)
    if (uint64_t size = std::filesystem::file_size(path, error); !error)
      bytes += size;
  if (bytes >= many && options.launch.rank == 0)
    printNote("all ids of " + std::to_string(bytes >> 30) +
              " GiB of data are checked before the first step");
}

static OpenedData open(const RunSettings &options, const DataSizes &sizes,
                       const Chosen &chosen, int64_t seed) {
  tsr_data_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.format = options.dataFormat.c_str();
  wanted.sequence = sizes.sequence;
  wanted.target = sizes.target;
  wanted.vocabulary = sizes.vocabulary;
  wanted.seed = seed;
  wanted.weights = chosen.weights.empty() ? nullptr : chosen.weights.data();
  wanted.validation_fraction = chosen.validationFraction;
  wanted.part = chosen.part;
  std::vector<const char *> paths;
  for (const std::string &path : chosen.files)
    paths.push_back(path.c_str());
  describeCheck(options, chosen);
  tsr_data *opened = nullptr;
  if (tsr_data_open(paths.data(), paths.size(), &wanted, &opened) != TSR_OK)
    printError(tsr_last_error());
  OpenedData data(opened);
  bool isUsable = data && isMeant(options, data.get(), chosen.files.front()) &&
                  isMaskable(sizes, data.get(), chosen.files.front());
  return isUsable ? std::move(data) : nullptr;
}

bool tessera::isOfBytes(const tsr_data *data) {
  return tsr_data_token_bytes(data) == 1 && tsr_data_documents(data) == 0;
}

OpenedData tessera::openTrainingData(const RunSettings &options,
                                     const DataSizes &sizes, int64_t seed) {
  return open(options, sizes,
              {options.data, options.dataWeights, options.validationFraction},
              seed);
}

OpenedData tessera::openEvaluationData(const RunSettings &options,
                                       const DataSizes &sizes) {
  constexpr int64_t order = 0; // results of runs are compared
  if (!options.evalData.empty())
    return open(options, sizes, {options.evalData, {}}, order);
  double fraction = options.validationFraction;
  return open(options, sizes,
              {options.data, {}, fraction, fraction ? "validation" : nullptr},
              order);
}

bool tessera::compareData(const RunSettings &options, tsr_session *session,
                          const tsr_data *data,
                          const std::vector<std::string> &files) {
  if (options.launch.isAlone())
    return true;
  printHashing(options, files);
  return tsr_session_compare_data(session, data) == TSR_OK ||
         !printError(tsr_last_error());
}

void tessera::printHashing(const RunSettings &options,
                           const std::vector<std::string> &paths) {
  std::string text = hashingText(paths);
  if (options.launch.rank == 0 && !text.empty())
    printNote(text);
}
