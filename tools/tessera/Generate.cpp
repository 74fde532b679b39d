//===- Generate.cpp - tessera generate ------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/generate/TextOfTokens.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <map>
#include <sstream>

using namespace tessera;
namespace json = llvm::json;

namespace {

struct DestroyGenerator {
  void operator()(tsr_generator *object) const {
    tsr_generator_destroy(object);
  }
};

/// A prompt and what it becomes.
struct Text {
  std::vector<int32_t> prompt, tokens;
  std::string text;
  int32_t ending = TSR_GOES_ON;
};

class Generating {
public:
  explicit Generating(const DriverOptions &options) : options(options) {}

  bool run();

private:
  using Clock = std::chrono::steady_clock;

  bool openTokenizer(const tsr_artifact *artifact);
  bool readPrompts();
  bool open(const tsr_artifact *artifact);
  bool addAll();
  bool take();
  void print(size_t number);
  void printTimes(double prompts, double all) const;
  std::string folder() const;
  bool isStreamed() const { return texts.size() == 1 && !options.json; }

  const DriverOptions &options;
  TextOfTokens tokenizer;
  std::unique_ptr<tsr_generator, DestroyGenerator> generator;
  std::vector<Text> texts;
  std::vector<TextOfTokens::Stream> streams;
  std::map<int64_t, size_t> numberOf; ///< Of requests.
  size_t printed = 0;
};

const char *nameOfEnding(int32_t ending) {
  switch (ending) {
  case TSR_ENDED_STOP:
    return "stop";
  case TSR_ENDED_LENGTH:
    return "length";
  case TSR_ENDED_CANCELLED:
    return "cancelled";
  default:
    return "failed";
  }
}

/// Of the model, where it is one.
std::string Generating::folder() const {
  if (llvm::sys::fs::is_directory(options.model))
    return options.model;
  std::string path = options.model;
  size_t end = path.find_last_of('/');
  return end == std::string::npos ? "." : path.substr(0, end);
}

bool Generating::openTokenizer(const tsr_artifact *artifact) {
  std::string path = options.tokenize.tokenizer;
  for (const char *name : {"/tokenizer.json", "/tokenizer.model"})
    if (path.empty() && llvm::sys::fs::exists(folder() + name))
      path = folder();
  if (!tokenizer.open(path))
    return false;
  int64_t vocabulary = tsr_artifact_vocabulary(artifact);
  if (tokenizer.size() <= vocabulary)
    return true;
  return !printError("the tokenizer '" + path + "' has a vocabulary of " +
                     std::to_string(tokenizer.size()) + ", the model '" +
                     options.model + "' one of " + std::to_string(vocabulary) +
                     "; name the model's own with --tokenizer");
}

bool Generating::readPrompts() {
  const GenerateOptions &given = options.generate;
  for (const std::string &prompt : given.prompts) {
    Text text;
    if (!tokenizer.hasTokenizer())
      return !printError("--prompt needs a tokenizer, and there is none in '" +
                         folder() +
                         "'; name one with --tokenizer, or give --prompt-ids");
    if (!tokenizer.encode(prompt, text.prompt))
      return false;
    texts.push_back(std::move(text));
  }
  for (const std::string &list : given.promptIds) {
    Text text;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) {
      int32_t id = 0;
      if (llvm::StringRef(part).getAsInteger(10, id))
        return !printError("--prompt-ids: '" + part +
                           "' is no token; give numbers with commas between "
                           "them");
      text.prompt.push_back(id);
    }
    texts.push_back(std::move(text));
  }
  for (size_t k = 0; k < texts.size(); ++k)
    streams.emplace_back(tokenizer);
  return true;
}

bool Generating::open(const tsr_artifact *artifact) {
  tsr_session_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.threads = options.threads;
  wanted.timeout_ms = options.timeoutMs;
  wanted.seed = options.seed;
  std::string weights = options.weights;
  for (const char *name :
       {"/model.safetensors", "/model.safetensors.index.json"})
    if (weights.empty() && llvm::sys::fs::exists(folder() + name))
      weights = folder();
  if (weights.empty())
    return !printError("nothing says which parameters the model has; give "
                       "--load-weights");
  tsr_generator *created = nullptr;
  if (tsr_generator_create(artifact, &wanted, weights.c_str(), &created) !=
      TSR_OK)
    return !printError(tsr_last_error());
  generator.reset(created);
  std::istringstream notes(tsr_generator_notes(created));
  for (std::string line; std::getline(notes, line);)
    printNote(line);
  return true;
}

bool Generating::addAll() {
  const GenerateOptions &given = options.generate;
  int32_t end = tokenizer.end();
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
  for (size_t k = 0; k < texts.size(); ++k) {
    int64_t id = 0;
    if (tsr_generator_add(generator.get(), texts[k].prompt.data(),
                          texts[k].prompt.size(), &request, &id) != TSR_OK)
      return !printError(tsr_last_error());
    numberOf[id] = k;
  }
  return true;
}

/// Takes what the last step made.
bool Generating::take() {
  tsr_generated made;
  for (int32_t found = 1;;) {
    if (tsr_generator_next(generator.get(), &made, &found) != TSR_OK)
      return !printError(tsr_last_error());
    if (!found)
      break;
    size_t number = numberOf[made.request];
    Text &text = texts[number];
    std::string added;
    // The token that ends a text is no part of it.
    if (made.token >= 0 && made.ended != TSR_ENDED_STOP) {
      text.tokens.push_back(made.token);
      added = streams[number].push(made.token);
    }
    text.ending = made.ended;
    if (made.ended)
      added += streams[number].finish();
    text.text += added;
    if (isStreamed()) {
      llvm::outs() << added;
      llvm::outs().flush();
    }
  }
  for (; printed < texts.size() && texts[printed].ending; ++printed)
    print(printed);
  return true;
}

void Generating::print(size_t number) {
  const Text &text = texts[number];
  if (text.ending == TSR_ENDED_FAILED)
    printError("the logits of prompt " + std::to_string(number) +
               " are not numbers; are the weights the model's?");
  if (options.json)
    llvm::outs() << json::Object{{"prompt_tokens", text.prompt},
                                 {"tokens", text.tokens},
                                 {"text", json::fixUTF8(text.text)},
                                 {"ended", nameOfEnding(text.ending)}}
                 << "\n";
  else if (isStreamed())
    llvm::outs() << "\n";
  else
    llvm::outs() << "[" << number << "] " << text.text << "\n";
}

void Generating::printTimes(double prompts, double all) const {
  size_t taken = 0, made = 0;
  for (const Text &text : texts) {
    taken += text.prompt.size();
    made += text.tokens.size();
  }
  std::fprintf(stderr,
               "%zu prompt tokens; first token after %.2f s; %zu new tokens, "
               "%.1f per second\n",
               taken, prompts, made,
               all > prompts ? (made - 1) / (all - prompts) : 0.0);
}

bool Generating::run() {
  ArtifactFile artifact;
  if (!artifact.open(options) || !openTokenizer(artifact.get()) ||
      !readPrompts() || !open(artifact.get()) || !addAll())
    return false;
  auto start = Clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double first = 0;
  for (int64_t rows = 1; rows > 0;) {
    if (tsr_generator_step(generator.get(), &rows) != TSR_OK)
      return !printError(tsr_last_error());
    if (!take())
      return false;
    if (first == 0 && !texts.front().tokens.empty())
      first = seconds();
  }
  if (options.generate.showsTimes)
    printTimes(first, seconds());
  for (const Text &text : texts)
    if (text.ending == TSR_ENDED_FAILED)
      return false;
  return true;
}

} // namespace

int tessera::runGenerate(const DriverOptions &given) {
  DriverOptions options = given;
  if (std::string problem = limitRanks(options); !problem.empty())
    return printError(problem);
  if (std::string problem = checkRunFiles(options); !problem.empty())
    return printError(problem);
  return Generating(options).run() ? 0 : 1;
}
