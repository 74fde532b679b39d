//===- OpenGenerator.cpp - a model, ready to generate ---------------------===//

#include "tools/tessera/generate/OpenGenerator.h"
#include "tessera/Json/ParseJson.h"
#include "tools/tessera/input/ModelCheck.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/JSON.h"
#include <sstream>

using namespace tessera;

std::string OpenGenerator::folder() const { return modelFolder(options); }

bool OpenGenerator::openTokenizer() {
  if (!artifact.open(options))
    return false;
  std::string path = modelTokenizer(options);
  int64_t vocabulary = tsr_artifact_vocabulary(artifact.get());
  if (options.generate.alternatives > vocabulary)
    return !printError("--log-probabilities: must be at most " +
                       std::to_string(vocabulary) +
                       ", the size of the vocabulary, but is " +
                       std::to_string(options.generate.alternatives));
  // A model of text files that --data has read as bytes.
  bool isOfBytes = path.empty() && vocabulary == 256;
  if (!(isOfBytes ? tokenizer.openBytes() : tokenizer.open(path)))
    return false;
  end = tokenizer.end();
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
  wanted.timeout_ms = options.timeoutMs;
  wanted.seed = options.seed;
  std::string weights = modelWeights(options);
  if (weights.empty() ||
      !checkConfigBeside(options, artifact.metadata(), weights))
    return false;
  tsr_generator *created = nullptr;
  if (tsr_generator_create(artifact.get(), &wanted, weights.c_str(),
                           &created) != TSR_OK)
    return !printError(tsr_last_error());
  generator.reset(created);
  std::istringstream notes(tsr_generator_notes(created));
  for (std::string line; std::getline(notes, line);)
    printNote(line);
  return true;
}

int64_t OpenGenerator::places() const {
  auto metadata = parseJson(artifact.metadata());
  if (!metadata) {
    llvm::consumeError(metadata.takeError());
    return 0;
  }
  const llvm::json::Object *model =
      metadata->getAsObject() ? metadata->getAsObject()->getObject("model")
                              : nullptr;
  return model ? model->getInteger("places").value_or(0) : 0;
}

tsr_request_options OpenGenerator::request() const {
  const GenerateOptions &given = options.generate;
  tsr_request_options request = {};
  request.size = sizeof request;
  request.max_new_tokens = given.maxNewTokens;
  request.temperature = given.temperature;
  request.top_k = given.topK;
  request.top_p = given.topP;
  request.min_p = given.minP;
  request.seed = options.seed;
  request.stop_tokens = &end;
  request.stop_count = end >= 0 && !given.ignoresEnd;
  request.repetition_penalty = given.repetitionPenalty;
  request.alternatives = given.alternatives;
  return request;
}
