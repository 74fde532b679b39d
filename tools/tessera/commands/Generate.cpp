//===- Generate.cpp - tessera generate ------------------------------------===//

#include "tessera/Artifact/DeviceReport.h"
#include "tools/tessera/generate/Chat.h"
#include "tools/tessera/generate/OpenGenerator.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
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
  json::Array alternatives; ///< For each token.
};

class Generating {
public:
  explicit Generating(const GenerateOptions &options)
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

  const GenerateOptions &options;
  OpenGenerator model;
  std::vector<Text> texts;
  std::vector<TextOfTokens::Stream> streams;
  std::map<int64_t, size_t> numberOf; ///< A request's text.
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
  const GenerateOptions &given = options;
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
    alternatives.resize(options.alternatives);
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
    if (options.showsLogProbabilities) {
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

/// Says how much top_p or min_p would have kept beyond the artifact's
/// candidates.
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
  if (options.showsTimes)
    printTimes(first, seconds());
  noteLeftOut();
  for (const Text &text : texts)
    if (text.ending == TSR_ENDED_FAILED)
      return false;
  return true;
}

class Generate : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  CLI::Option *note(CLI::Option *option);
  void declareTexts(CLI::App &app);
  void declareSampling(CLI::App &app);
  void checkSampling() const;
  void checkTexts() const;

  GenerateOptions options;
  PlanGroup plan{options};
};

const CommandRegistration<Generate>
    registration({150, "generate", "Continue texts with a model",
                  " path/to/model --prompt 'Once upon a time' --temperature "
                  "0.8"});

} // namespace

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Remembers that an option is given whose value a file may also say.
CLI::Option *Generate::note(CLI::Option *option) {
  return option->each([this, name = option->get_name()](const std::string &) {
    options.given.push_back(name);
  });
}

void Generate::declareTexts(CLI::App &app) {
  beginGroup(app, "Texts", "--prompt 'Once upon a time' --max-new-tokens 64");
  app.add_option("--prompt", options.prompts,
                 "A text to continue (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  app.add_option("--prompt-ids", options.promptIds,
                 "The same as tokens, with commas between them")
      ->allow_extra_args(false)
      ->delimiter('\0')
      ->type_name("INT,...");
  app.add_flag("--chat", options.isChat,
               "Answer the lines of the standard input, one after the other, "
               "with what was said before them; --prompt then begins the "
               "conversation");
  note(tessera::declare(app, "--max-new-tokens", FlagCheck::Positive,
                        options.maxNewTokens,
                        "Most tokens that are added to a text (default: those "
                        "of generation_config.json, else 128)"));
  app.add_option("--stop", options.stops,
                 "End a text before this one (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  app.add_flag("--ignore-end", options.ignoresEnd,
               "Go on after tokens that end a text (eos_token_id of "
               "generation_config.json or config.json, else the tokenizer's "
               "eos_token)");
  declareTokenizer(app, options.tokenizer);
}

void Generate::declareSampling(CLI::App &app) {
  beginGroup(app, "Sampling", "--temperature 0.8 --top-k 40 --seed 7");
  auto number = [&](const char *name, FlagCheck check, auto &value,
                    const char *what) {
    note(tessera::declare(app, name, check, value, what));
  };
  number("--temperature", FlagCheck::Any, options.temperature,
         "What logits are divided by before a token is drawn; 0: always the "
         "most probable token (default: that of generation_config.json if its "
         "do_sample is true, else 0)");
  number("--top-k", FlagCheck::NotNegative, options.topK,
         "Draw from so many most probable tokens; 0: all (default: those of "
         "generation_config.json, else 0)");
  number("--top-p", FlagCheck::Any, options.topP,
         "Draw from the most probable tokens that --top-k leaves and that sum "
         "to this; 1: all (default: that of generation_config.json, else 1)");
  number("--min-p", FlagCheck::Any, options.minP,
         "Draw from tokens with at least this part of the largest "
         "probability (default: that of generation_config.json, else 0)");
  number("--repetition-penalty", FlagCheck::Any, options.repetitionPenalty,
         "What logits of tokens that the text has are divided by, or "
         "multiplied by if they are below 0; 1: nothing (default: that of "
         "generation_config.json, else 1)");
  tessera::declare(app, "--seed", FlagCheck::Any, options.seed,
                   "Seed of the draws");
}

void Generate::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::SourcesAndArtifacts);
  declareTexts(app);
  declareSampling(app);
  beginGroup(app, "Output", "--times");
  app.add_flag("--times", options.showsTimes,
               "Say how long prompts and tokens took");
  tessera::declare(app, "--log-probabilities", FlagCheck::NotNegative,
                   options.alternatives,
                   "With --json: the logarithm of each token's probability, "
                   "and so many most probable tokens with theirs")
      ->each([this](const std::string &) {
        options.showsLogProbabilities = true;
      });
  declareJson(app, options.json);
  tessera::declare(app, static_cast<InferenceOptions &>(options));
  plan.declare(app, {ProgramSet::Generate});
  plan.declareRanks(app);
  hide(*app.get_option("--programs")); // it runs one kind of them
}

/// The runtime would take a --top-p of 0 for one that is not given.
void Generate::checkSampling() const {
  auto range = [](const char *name, double value, bool isLegal,
                  const char *what) {
    if (!isLegal)
      refuse(std::string(name) + ": must be " + what + ", but is " +
             exactNumber(value));
  };
  range("--temperature", options.temperature,
        options.temperature >= 0 && std::isfinite(options.temperature),
        "a finite number not below 0");
  range("--top-p", options.topP, options.topP > 0 && options.topP <= 1,
        "a number above 0 and at most 1");
  range("--min-p", options.minP, options.minP >= 0 && options.minP <= 1,
        "a number from 0 to 1");
  range("--repetition-penalty", options.repetitionPenalty,
        options.repetitionPenalty >= 0.01 && options.repetitionPenalty <= 100,
        "a number from 0.01 to 100");
}

void Generate::checkTexts() const {
  if (options.showsLogProbabilities && !options.json)
    refuse("--log-probabilities are written in JSON; give --json, too");
  for (const std::string &stop : options.stops)
    if (stop.empty())
      refuse("--stop '' would end every text before it begins; leave it out");
  if (options.isChat) {
    if (!options.promptIds.empty() || options.prompts.size() > 1 ||
        options.json)
      refuse("--chat is a conversation in one text: give at most one --prompt, "
             "which begins it, and neither --prompt-ids nor --json");
  } else if (options.prompts.empty() && options.promptIds.empty()) {
    refuse("nothing says what is to be continued; give --prompt, --prompt-ids "
           "or --chat");
  }
}

void Generate::check(CLI::App &app) {
  plan.read(app);
  requireOneProcess(app);
  plan.choosePrograms(ProgramSet::Generate);
  plan.check();
  checkSampling();
  checkTexts();
}

int Generate::run() {
  if (std::string why = firstOf(
          {findModel(options, ModelKinds::SourcesAndArtifacts),
           checkTokenizer(options.tokenizer), deviceProblem(options.plan),
           limitRanks(options), checkInferenceFiles(options)});
      !why.empty())
    return printError(why);
  if (options.isChat)
    return Chat(options).run() ? 0 : 1;
  return Generating(options).run() ? 0 : 1;
}
