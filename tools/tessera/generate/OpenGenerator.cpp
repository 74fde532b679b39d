//===- OpenGenerator.cpp - a model, ready to generate ---------------------===//

#include "tools/tessera/generate/OpenGenerator.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/input/OpenModel.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/ADT/STLExtras.h"
#include <sstream>

using namespace tessera;

std::string OpenGenerator::folder() const { return modelFolder(options); }

bool OpenGenerator::isGiven(const char *flag) const {
  return llvm::is_contained(options.given, flag);
}

/// An artifact holds the files that it was made from, unless an older version
/// made it.
bool OpenGenerator::readConfig() {
  config.size = sizeof config;
  const std::string beside = folder();
  tsr_status status =
      tsr_artifact_generation_config(artifact.get(), nullptr, &config);
  if (status == TSR_OK && !*config.file)
    status =
        tsr_artifact_generation_config(artifact.get(), beside.c_str(), &config);
  if (status != TSR_OK)
    return !printError(tsr_last_error());
  ends.assign(config.end_tokens, config.end_tokens + config.end_count);
  configFile = config.file;
  notFollowed = config.not_followed;
  return true;
}

bool OpenGenerator::samples() const {
  return isGiven("--temperature")
             ? options.temperature > 0
             : config.samples == 1 && config.temperature != 0;
}

bool OpenGenerator::checkSampling() const {
  const GenerateOptions &given = options;
  if (samples())
    return true;
  for (auto [name, isRestricted] : {std::pair{"--top-k", given.topK > 0},
                                    std::pair{"--top-p", given.topP < 1},
                                    std::pair{"--min-p", given.minP > 0}})
    if (isRestricted)
      return !printError(
          std::string(name) +
          " says from what tokens are drawn, but without --temperature the "
          "most probable one is taken; give --temperature too, or leave it "
          "out");
  return true;
}

/// Prints which settings of the file count, and which do not.
void OpenGenerator::noteConfig() const {
  struct Setting {
    const char *key, *flag;
    double value, neutral;
    bool isOfDraws;
  };
  const Setting settings[] = {
      {"temperature", "--temperature", config.temperature, 1, true},
      {"top_k", "--top-k", static_cast<double>(config.top_k), 0, true},
      {"top_p", "--top-p", config.top_p, 1, true},
      {"min_p", "--min-p", config.min_p, 0, true},
      {"repetition_penalty", "--repetition-penalty", config.repetition_penalty,
       1, false},
      {"max_new_tokens", "--max-new-tokens",
       static_cast<double>(config.max_new_tokens), -1, false}};
  std::string taken, idle;
  if (config.samples == 1 && !isGiven("--temperature"))
    taken = "do_sample";
  for (const Setting &each : settings) {
    if (each.value < 0 || each.value == each.neutral || isGiven(each.flag))
      continue;
    std::string &list = each.isOfDraws && !samples() ? idle : taken;
    char value[32];
    std::snprintf(value, sizeof value, "%.9g", each.value);
    list += std::string(list.empty() ? "" : ", ") + each.key + " " + value;
  }
  if (!taken.empty())
    printNote("by " + configFile + ": " + taken);
  if (!idle.empty())
    printNote(configFile + " says " + idle +
              ", which counts for nothing, as the most probable token is "
              "taken; to draw, give --temperature");
  if (!notFollowed.empty())
    printNote("not followed of " + configFile + ": " + notFollowed);
}

bool OpenGenerator::openTokenizer() {
  if (!openArtifact(options, artifact))
    return false;
  std::string path = modelTokenizer(options, options.tokenizer);
  int64_t vocabulary = tsr_artifact_vocabulary(artifact.get());
  if (options.alternatives > vocabulary)
    return !printError("--log-probabilities: must be at most " +
                       std::to_string(vocabulary) +
                       ", the size of the vocabulary, but is " +
                       std::to_string(options.alternatives));
  // A model of text files that --data has read as bytes.
  bool isOfBytes = path.empty() && vocabulary == 256;
  if (!(isOfBytes ? tokenizer.openBytes() : tokenizer.open(path)))
    return false;
  if (!readConfig() || !checkSampling())
    return false;
  noteConfig();
  if (ends.empty() && tokenizer.end() >= 0)
    ends = {tokenizer.end()};
  if (tokenizer.size() <= vocabulary)
    return true;
  return !printError("the tokenizer '" + path + "' has a vocabulary of " +
                     std::to_string(tokenizer.size()) + ", the model '" +
                     options.model + "' one of " + std::to_string(vocabulary) +
                     "; name the model's own with --tokenizer");
}

bool OpenGenerator::open() {
  tsr_session_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.device = nameOf(artifact.device());
  wanted.threads = options.threads;
  wanted.seed = options.seed;
  llvm::Expected<std::string> weights = checkedWeights(
      options, {options.weights, options.checkpoint}, artifact.metadata());
  if (!weights)
    return !printError(weights.takeError());
  tsr_generator *created = nullptr;
  if (tsr_generator_create(artifact.get(), &wanted, weights->c_str(),
                           &created) != TSR_OK)
    return !printError(tsr_last_error());
  generator.reset(created);
  std::istringstream notes(tsr_generator_notes(created));
  for (std::string line; std::getline(notes, line);)
    printNote(line);
  return true;
}

int64_t OpenGenerator::places() const {
  llvm::Expected<program::Program> read = artifact.readProgram();
  if (read)
    return read->model.places;
  llvm::consumeError(read.takeError()); // The runtime has parsed it, too.
  return 0;
}

tsr_request_options OpenGenerator::request() const {
  const GenerateOptions &given = options;
  tsr_request_options request = {};
  request.size = sizeof request;
  auto choose = [&](const char *flag, auto own, auto said) {
    return isGiven(flag) || said < 0 ? own : said;
  };
  request.max_new_tokens =
      choose("--max-new-tokens", given.maxNewTokens, config.max_new_tokens);
  if (samples()) {
    request.temperature = isGiven("--temperature") ? given.temperature
                          : config.temperature < 0 ? 1
                                                   : config.temperature;
    request.top_k = choose("--top-k", given.topK, config.top_k);
    request.top_p = choose("--top-p", given.topP, config.top_p);
    request.min_p = choose("--min-p", given.minP, config.min_p);
  }
  request.seed = options.seed;
  request.stop_tokens = ends.data();
  request.stop_count = given.ignoresEnd ? 0 : ends.size();
  request.repetition_penalty =
      choose("--repetition-penalty", given.repetitionPenalty,
             config.repetition_penalty);
  request.alternatives = given.alternatives;
  return request;
}
