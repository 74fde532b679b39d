//===- Generate.cpp - tessera generate ------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/generate/Chat.h"
#include "tools/tessera/generate/OpenGenerator.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <map>
#include <sstream>

using namespace tessera;
namespace json = llvm::json;

namespace {

/// A prompt and what it becomes.
struct Text {
  std::vector<int32_t> prompt, tokens;
  std::string text;
  int32_t ending = TSR_GOES_ON;
  std::vector<double> logProbabilities;
  json::Array alternatives; ///< Of each token.
};

class Generating {
public:
  explicit Generating(const DriverOptions &options)
      : options(options), model(options) {}

  bool run();

private:
  using Clock = std::chrono::steady_clock;

  bool readPrompts();
  bool addAll();
  bool take();
  void accept(const tsr_generated &made,
              const std::vector<tsr_alternative> &alternatives);
  void print(size_t number);
  void printTimes(double prompts, double all) const;
  void noteLeftOut() const;
  bool isStreamed() const { return texts.size() == 1 && !options.json; }

  const DriverOptions &options;
  OpenGenerator model;
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

bool Generating::readPrompts() {
  const GenerateOptions &given = options.generate;
  for (const std::string &prompt : given.prompts) {
    Text text;
    if (!model.tokenizer.hasTokenizer())
      return !printError("--prompt needs a tokenizer, and there is none in '" +
                         model.folder() +
                         "'; name one with --tokenizer, or give --prompt-ids");
    if (!model.tokenizer.encode(prompt, text.prompt))
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
  if (!given.stops.empty() && !model.tokenizer.hasTokenizer())
    return !printError("--stop needs a tokenizer, and there is none in '" +
                       model.folder() + "'; name one with --tokenizer");
  for (size_t k = 0; k < texts.size(); ++k)
    streams.emplace_back(model.tokenizer, given.stops);
  return true;
}

bool Generating::addAll() {
  const tsr_request_options request = model.request();
  for (size_t k = 0; k < texts.size(); ++k) {
    int64_t id = 0;
    if (tsr_generator_add(model.get(), texts[k].prompt.data(),
                          texts[k].prompt.size(), &request, &id) != TSR_OK)
      return !printError(tsr_last_error());
    numberOf[id] = k;
  }
  return true;
}

json::Array listOf(const std::vector<tsr_alternative> &alternatives) {
  json::Array list;
  for (const tsr_alternative &one : alternatives)
    list.push_back(json::Object{{"token", one.token},
                                {"log_probability", one.log_probability}});
  return list;
}

void Generating::accept(const tsr_generated &made,
                        const std::vector<tsr_alternative> &alternatives) {
  size_t number = numberOf[made.request];
  Text &text = texts[number];
  TextOfTokens::Stream &stream = streams[number];
  if (text.ending) // one of --stop has been found before
    return;
  std::string added;
  // The token that ends a text is one of those that were made, as transformers
  // returns it, but no part of the text.
  if (made.token >= 0) {
    text.tokens.push_back(made.token);
    text.logProbabilities.push_back(made.log_probability);
    text.alternatives.push_back(listOf(alternatives));
    if (made.ended != TSR_ENDED_STOP)
      added = stream.push(made.token);
  }
  text.ending = made.ended;
  if (made.ended)
    added += stream.finish();
  if (stream.isStopped()) {
    text.ending = TSR_ENDED_STOP;
    if (!made.ended)
      tsr_generator_cancel(model.get(), made.request);
  }
  text.text += added;
  if (isStreamed()) {
    printModelText(added);
    flushOutput();
  }
}

/// Takes what the last step made.
bool Generating::take() {
  tsr_generated made;
  std::vector<tsr_alternative> alternatives;
  for (int32_t found = 1;;) {
    size_t count = 0;
    alternatives.resize(options.generate.alternatives);
    if (tsr_generator_take(model.get(), &made, alternatives.data(),
                           alternatives.size(), &count, &found) != TSR_OK)
      return !printError(tsr_last_error());
    if (!found)
      break;
    alternatives.resize(count);
    accept(made, alternatives);
  }
  for (; printed < texts.size() && texts[printed].ending; ++printed)
    print(printed);
  return true;
}

void Generating::print(size_t number) {
  Text &text = texts[number];
  if (text.ending == TSR_ENDED_FAILED)
    printError("the logits of prompt " + std::to_string(number) +
               " are not numbers; are the weights the model's?");
  if (options.json) {
    json::Object line{{"prompt_tokens", text.prompt},
                      {"tokens", text.tokens},
                      {"text", json::fixUTF8(text.text)},
                      {"ended", nameOfEnding(text.ending)}};
    if (options.generate.showsLogProbabilities) {
      line["log_probabilities"] = text.logProbabilities;
      line["alternatives"] = std::move(text.alternatives);
    }
    printJson(std::move(line));
  } else if (isStreamed()) {
    standardOutput() << "\n";
  } else {
    standardOutput() << "[" << number << "] ";
    printModelText(text.text + "\n");
  }
}

void Generating::printTimes(double prompts, double all) const {
  size_t taken = 0, made = 0;
  for (const Text &text : texts) {
    taken += text.prompt.size();
    made += text.tokens.size();
  }
  const int64_t reused = tsr_generator_reused(model.get());
  const std::string shared =
      reused ? ", of which " + std::to_string(reused) + " did not run again"
             : "";
  standardError() << llvm::format(
      "%zu prompt tokens%s; first token after %.2f s; %zu new tokens, "
      "%.1f per second\n",
      taken, shared.c_str(), prompts, made,
      all > prompts ? (made - 1) / (all - prompts) : 0.0);
}

/// What top_p or min_p would have kept beyond the artifact's candidates.
void Generating::noteLeftOut() const {
  const double leftOut = tsr_generator_left_out(model.get());
  if (leftOut > 0)
    printNote(llvm::formatv(
        "up to {0:f1} % of a token's probability was left out, because steps "
        "leave only their most probable tokens; compile with more "
        "--candidates, "
        "or give --top-k",
        100 * leftOut));
}

bool Generating::run() {
  if (!model.openTokenizer() || !readPrompts() || !model.open() || !addAll())
    return false;
  auto start = Clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double first = 0;
  for (int64_t rows = 1; rows > 0;) {
    if (tsr_generator_step(model.get(), &rows) != TSR_OK)
      return !printError(tsr_last_error());
    if (!take())
      return false;
    if (first == 0 && !texts.front().tokens.empty())
      first = seconds();
  }
  if (options.generate.showsTimes)
    printTimes(first, seconds());
  noteLeftOut();
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
  if (options.generate.isChat)
    return Chat(options).run() ? 0 : 1;
  return Generating(options).run() ? 0 : 1;
}
