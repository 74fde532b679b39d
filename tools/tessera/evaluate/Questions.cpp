//===- Questions.cpp - questions with several answers ---------------------===//

#include "tools/tessera/evaluate/Questions.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <deque>

using namespace tessera;
namespace json = llvm::json;

static constexpr uint64_t kMostBytesOfQuestions = 1 << 30;

static int64_t best(const std::vector<Choice> &choices,
                    double (*value)(const Choice &)) {
  auto less = [&](const Choice &a, const Choice &b) {
    return value(a) < value(b);
  };
  return std::max_element(choices.begin(), choices.end(), less) -
         choices.begin();
}

int64_t Question::chosen() const {
  return best(choices, [](const Choice &c) { return c.score.log_probability; });
}

int64_t Question::chosenNormalised() const {
  return best(choices, [](const Choice &c) { return c.normalised(); });
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool Questions::refuse(const std::string &why) const {
  return !printError(path + ":" + std::to_string(lineNumber) + ": " + why);
}

/// Takes tokens that are named; returns false if the value is something else.
static bool takeTokens(const json::Value &value, std::vector<int32_t> &tokens) {
  const json::Array *array = value.getAsArray();
  if (!array)
    return false;
  for (const json::Value &element : *array) {
    std::optional<int64_t> token = element.getAsInteger();
    if (!token || *token < 0 || *token > INT32_MAX)
      return false;
    tokens.push_back(static_cast<int32_t>(*token));
  }
  return true;
}

/// Returns the characters of UTF-8 without the spaces that part a choice from
/// its prompt.
static double charactersOf(llvm::StringRef text) {
  text = text.ltrim(' ');
  return static_cast<double>(
      llvm::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

/// The tokens of a choice are those that it adds to the prompt's, and begin
/// with the white space that ends a prompt.
static bool encode(llvm::StringRef prompt, llvm::StringRef choice,
                   TextOfTokens &tokenizer, Choice &made) {
  llvm::StringRef given = prompt.rtrim();
  std::vector<int32_t> before;
  if (!tokenizer.encode((prompt + choice).str(), made.tokens) ||
      !tokenizer.encode(given.str(), before))
    return false;
  made.given = before.size();
  made.length = charactersOf(choice);
  // The text begins as after another text.
  if (before.empty() && tokenizer.end() >= 0) {
    made.tokens.insert(made.tokens.begin(), tokenizer.end());
    made.given = 1;
  }
  return true;
}

bool Questions::addChoice(const json::Value &prompt, const json::Value &choice,
                          TextOfTokens &tokenizer, Question &question) {
  Choice made;
  std::string number = std::to_string(question.choices.size());
  std::optional<llvm::StringRef> text = choice.getAsString();
  std::optional<llvm::StringRef> before = prompt.getAsString();
  if (text && before) {
    if (!tokenizer.hasTokenizer())
      return refuse("texts need a tokenizer, and there is none beside the "
                    "model; name one with --tokenizer, or give tokens as lists "
                    "of numbers");
    if (!encode(*before, *text, tokenizer, made))
      return false;
  } else if (takeTokens(prompt, made.tokens)) {
    made.given = made.tokens.size();
    if (!takeTokens(choice, made.tokens))
      return refuse("choice " + number +
                    " is no list of tokens, as the prompt");
    made.length = static_cast<double>(made.tokens.size() - made.given);
  } else {
    return refuse("prompt and choices must be texts, or lists of tokens");
  }
  if (made.given == 0)
    return refuse("the prompt has no token; begin it with one");
  if (made.given >= made.tokens.size() || made.length == 0)
    return refuse("choice " + number + " adds no token to the prompt");
  question.choices.push_back(std::move(made));
  return true;
}

bool Questions::readLine(llvm::StringRef line, TextOfTokens &tokenizer) {
  auto parsed = parseJson(line, json_kinds::question);
  if (!parsed)
    return refuse("it is no JSON: " + reasonInLine(parsed.takeError()));
  const json::Object *object = parsed->getAsObject();
  const json::Value *prompt = object ? object->get("prompt") : nullptr;
  const json::Array *choices = object ? object->getArray("choices") : nullptr;
  auto answer = object ? object->getInteger("answer") : std::nullopt;
  if (!prompt || !choices || !answer)
    return refuse("it must be {\"prompt\": ..., \"choices\": [...], "
                  "\"answer\": number of the right choice, from 0}");
  Question question;
  question.answer = *answer;
  question.line = lineNumber;
  for (const json::Value &choice : *choices)
    if (!addChoice(*prompt, choice, tokenizer, question))
      return false;
  auto count = static_cast<int64_t>(question.choices.size());
  if (*answer < 0 || *answer >= count)
    return refuse(llvm::formatv("the answer is {0}, but there are {1} choices, "
                                "counted from 0",
                                *answer, count));
  questions.push_back(std::move(question));
  return true;
}

bool Questions::read(const std::string &file, TextOfTokens &tokenizer) {
  path = file;
  auto buffer = readText(path, kMostBytesOfQuestions, "a file of questions");
  if (!buffer)
    return !printError("--choices: " + llvm::toString(buffer.takeError()));
  llvm::StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    auto [line, others] = rest.split('\n');
    rest = others;
    ++lineNumber;
    if (!line.trim().empty() && !readLine(line, tokenizer))
      return false;
  }
  return !questions.empty() ||
         !printError("--choices '" + path + "' has no line");
}

int64_t Questions::longestText() const {
  size_t longest = 0;
  for (const Question &question : questions)
    for (const Choice &choice : question.choices)
      longest = std::max(longest, choice.tokens.size());
  return static_cast<int64_t>(longest);
}

std::string Questions::longestPlace() const {
  for (const Question &question : questions)
    for (const auto &[number, choice] : llvm::enumerate(question.choices))
      if (static_cast<int64_t>(choice.tokens.size()) == longestText())
        return llvm::formatv("{0}:{1}: the prompt and choice {2} have {3} "
                             "tokens, the most of all",
                             path, question.line, number, longestText());
  return "";
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Fowler, Noll and Vo's hash of all tokens, 1a of 32 bits.
static int32_t hashOf(const std::vector<Question> &questions) {
  uint32_t hash = 2166136261u;
  auto add = [&](uint32_t value) { hash = (hash ^ value) * 16777619u; };
  for (const Question &question : questions)
    for (const Choice &choice : question.choices) {
      add(static_cast<uint32_t>(choice.given));
      for (int32_t token : choice.tokens)
        add(static_cast<uint32_t>(token));
    }
  return static_cast<int32_t>(hash & 0x7fffffffu);
}

bool Questions::isSameEverywhere(tsr_session *session) const {
  const int32_t own = hashOf(questions);
  int32_t largest = 0, smallest = 0;
  if (tsr_session_largest(session, own, &largest) != TSR_OK ||
      tsr_session_largest(session, -own, &smallest) != TSR_OK)
    return !printError(tsr_last_error());
  return largest == -smallest ||
         !printError("--choices '" + path +
                     "': another process has other tokens; give all the same "
                     "file and tokenizer");
}

bool Questions::refuse(size_t question, const std::string &why) const {
  return !printError(path + ":" + std::to_string(questions[question].line) +
                     ": " + why);
}

bool Questions::isNumber(size_t question, double value) const {
  return !std::isnan(value) ||
         refuse(question, "logits are not numbers; are the weights the "
                          "model's?");
}

bool Questions::score(tsr_session *session) {
  if (!isSameEverywhere(session))
    return false;
  for (size_t k = 0; k < questions.size(); ++k)
    for (Choice &choice : questions[k].choices) {
      if (tsr_session_score(session, choice.tokens.data(), choice.tokens.size(),
                            choice.given, &choice.score) != TSR_OK)
        return refuse(k, tsr_last_error());
      if (!isNumber(k, choice.score.log_probability))
        return false;
    }
  return true;
}

/// Returns whether nothing is wrong; leaves out what goes on.
bool Questions::take(tsr_generator *generator, Asked &asked) {
  Choice &choice = *asked.choice;
  std::vector<tsr_token_score> scores(choice.tokens.size() - choice.given);
  int32_t ended = TSR_GOES_ON;
  if (tsr_generator_take_scores(generator, asked.request, scores.data(),
                                scores.size(), &ended) != TSR_OK)
    return refuse(asked.question, tsr_last_error());
  if (ended == TSR_GOES_ON)
    return true;
  asked.choice = nullptr;
  if (ended != TSR_ENDED_SCORED)
    return isNumber(asked.question, NAN);
  for (const tsr_token_score &token : scores) {
    choice.score.log_probability += token.log_probability;
    choice.score.predicted += token.is_largest != 0;
  }
  return true;
}

bool Questions::ask(tsr_generator *generator, Asked &asked) {
  const Choice &choice = *asked.choice;
  return tsr_generator_score(generator, choice.tokens.data(),
                             choice.tokens.size(), choice.given, nullptr,
                             &asked.request) == TSR_OK ||
         refuse(asked.question, tsr_last_error());
}

/// Choices of a prompt are asked one after the other: it runs once.
bool Questions::score(tsr_generator *generator, int64_t most) {
  std::deque<Asked> waiting;
  for (size_t k = 0; k < questions.size(); ++k)
    for (Choice &choice : questions[k].choices)
      waiting.push_back({k, &choice, -1});
  std::vector<Asked> running;
  while (!waiting.empty() || !running.empty()) {
    for (; !waiting.empty() && static_cast<int64_t>(running.size()) < most;
         waiting.pop_front()) {
      if (!ask(generator, waiting.front()))
        return false;
      running.push_back(waiting.front());
    }
    if (tsr_generator_step(generator, nullptr) != TSR_OK)
      return !printError(tsr_last_error());
    for (Asked &asked : running)
      if (!take(generator, asked))
        return false;
    llvm::erase_if(running, [](const Asked &asked) { return !asked.choice; });
  }
  return true;
}

double Questions::accuracy(int64_t (Question::*chosen)() const) const {
  auto right = llvm::count_if(questions, [&](const Question &question) {
    return (question.*chosen)() == question.answer;
  });
  return static_cast<double>(right) / static_cast<double>(questions.size());
}

std::string Questions::text() const {
  return llvm::formatv("acc {0:f4}, acc_norm {1:f4} of {2} question{3}",
                       accuracy(&Question::chosen),
                       accuracy(&Question::chosenNormalised), questions.size(),
                       questions.size() == 1 ? "" : "s");
}

json::Value Questions::json() const {
  json::Array answers;
  for (const Question &question : questions) {
    json::Array logs, tokens, predicted;
    for (const Choice &choice : question.choices) {
      logs.push_back(choice.score.log_probability);
      tokens.push_back(
          static_cast<int64_t>(choice.tokens.size() - choice.given));
      predicted.push_back(choice.score.predicted);
    }
    answers.push_back(json::Object{{"answer", question.answer},
                                   {"chosen", question.chosen()},
                                   {"chosen_norm", question.chosenNormalised()},
                                   {"log_probabilities", std::move(logs)},
                                   {"tokens", std::move(tokens)},
                                   {"predicted_tokens", std::move(predicted)}});
  }
  return json::Object{{"acc", accuracy(&Question::chosen)},
                      {"acc_norm", accuracy(&Question::chosenNormalised)},
                      {"questions", static_cast<int64_t>(questions.size())},
                      {"answers", std::move(answers)}};
}
