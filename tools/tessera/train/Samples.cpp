//===- Samples.cpp - texts that a model writes while it is trained --------===//

#include "tools/tessera/train/Samples.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/LabelBytes.h"
#include "tools/tessera/train/StopSignals.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdio>

using namespace tessera;

static constexpr int64_t kNewTokens = 64;

bool Samples::prepare(tsr_session *opened, const tsr_artifact *artifact,
                      bool ofBytes) {
  session = opened;
  isPair = tsr_artifact_target(artifact) > 0;
  if (!options.sampleEvery)
    return true;
  std::string path = options.evalTokenizer;
  if (ofBytes && !path.empty())
    return !printError("--tokenizer is for data of tokens, but the run reads "
                       "text, whose tokens are bytes; leave it out");
  if (path.empty() && !ofBytes)
    path = tokenizerBeside(options);
  if (path.empty() && !ofBytes)
    return !printError("--sample-prompt needs the tokenizer of the data, and "
                       "there is none beside the model; name one with "
                       "--tokenizer");
  if (!(path.empty() ? tokenizer.openBytes() : tokenizer.open(path)))
    return false;
  if (!path.empty() && tokenizer.size() > tsr_artifact_vocabulary(artifact))
    return !printError("the tokenizer '" + path + "' has a vocabulary of " +
                       std::to_string(tokenizer.size()) +
                       ", the model one of " +
                       std::to_string(tsr_artifact_vocabulary(artifact)) +
                       "; name the tokenizer of the data with --tokenizer");
  if (!path.empty() && !readEnds(artifact))
    return false;
  tsr_generator *created = nullptr;
  if (tsr_generator_create_on(session, &created) != TSR_OK)
    return !printError(std::string("--sample-every: ") + tsr_last_error());
  generator.reset(created);
  return encodePrompts();
}

/// Texts end as those of `tessera generate` do.
bool Samples::readEnds(const tsr_artifact *artifact) {
  tsr_generation_config config = {};
  config.size = sizeof config;
  if (tsr_artifact_generation_config(artifact, nullptr, &config) != TSR_OK)
    return !printError(tsr_last_error());
  ends.assign(config.end_tokens, config.end_tokens + config.end_count);
  if (ends.empty() && tokenizer.end() >= 0)
    ends = {tokenizer.end()};
  return true;
}

/// Refuses prompts before the first step.
bool Samples::encodePrompts() {
  for (const std::string &prompt : options.samplePrompts) {
    std::vector<int32_t> &ids = prompts.emplace_back();
    if (!tokenizer.encode(prompt, ids))
      return false;
  }
  std::vector<int64_t> requests;
  if (!add(requests))
    return false;
  for (int64_t request : requests)
    tsr_generator_cancel(generator.get(), request);
  std::vector<std::vector<int32_t>> texts(requests.size());
  return takeAll(requests, texts);
}

bool Samples::add(std::vector<int64_t> &requests) {
  for (size_t k = 0; k < prompts.size(); ++k) {
    tsr_request_options request = {};
    request.size = sizeof request;
    request.max_new_tokens = kNewTokens;
    request.temperature = 1;
    request.seed = options.seed + static_cast<int64_t>(k);
    request.stop_tokens = ends.data();
    request.stop_count = ends.size();
    if (tsr_generator_add(generator.get(), prompts[k].data(), prompts[k].size(),
                          &request, &requests.emplace_back()) != TSR_OK)
      return !printError("--sample-prompt '" + options.samplePrompts[k] +
                         "': " + tsr_last_error());
  }
  return true;
}

/// Runs steps until all have ended, or the run is told to stop.
bool Samples::takeAll(const std::vector<int64_t> &requests,
                      std::vector<std::vector<int32_t>> &texts) {
  while (tsr_generator_active(generator.get()) > 0 && !isToldToStop())
    if (tsr_generator_step(generator.get(), nullptr) != TSR_OK)
      return !printError(std::string("--sample-every: ") + tsr_last_error());
  tsr_generated made;
  int32_t found = 1;
  while (tsr_generator_next(generator.get(), &made, &found) == TSR_OK && found)
    if (made.token >= 0 && made.ended != TSR_ENDED_STOP)
      texts[std::find(requests.begin(), requests.end(), made.request) -
            requests.begin()]
          .push_back(made.token);
  return true;
}

std::string Samples::textOf(const std::vector<int32_t> &tokens) const {
  std::string text;
  TextOfTokens::Stream stream(tokenizer);
  for (int32_t token : tokens)
    text += stream.push(token);
  return text + stream.finish();
}

static std::string quoted(const std::string &text) {
  std::string quoted;
  llvm::raw_string_ostream(quoted)
      << llvm::json::Value(llvm::json::fixUTF8(text));
  return quoted;
}

bool Samples::run(Progress &progress) {
  progress.finishLine();
  const double begin = progress.elapsed();
  std::vector<int64_t> requests;
  if (!add(requests))
    return false;
  std::vector<std::vector<int32_t>> texts(requests.size());
  if (!takeAll(requests, texts))
    return false;
  if (isToldToStop()) // all ranks are of this process
    return true;
  for (size_t k = 0; k < texts.size(); ++k) {
    const std::string &prompt = options.samplePrompts[k];
    const std::string text = textOf(texts[k]);
    printFormatted("step %lld  sample: %s\n",
                   static_cast<long long>(tsr_session_next_step(session)),
                   (isPair ? quoted(prompt) + " -> " + quoted(text)
                           : quoted(prompt + text))
                       .c_str());
  }
  progress.leaveOutSince(begin);
  return true;
}
