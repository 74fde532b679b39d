//===- Chat.cpp - a conversation with a model -----------------------------===//

#include "tools/tessera/generate/Chat.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <iostream>
#include <unistd.h>

using namespace tessera;
namespace json = llvm::json;

static const char *const kUser = "User:", *const kModel = "Assistant:";

static bool hasTemplate(const std::string &folder) {
  if (llvm::sys::fs::exists(folder + "/chat_template.jinja") ||
      llvm::sys::fs::exists(folder + "/chat_template.json"))
    return true;
  return jsonObjectIn(folder + "/tokenizer_config.json").get("chat_template");
}

void Chat::noteTemplate() const {
  const std::string &named = options.tokenizer;
  std::string folder = named.empty() ? model.folder() : named;
  if (hasTemplate(folder))
    printNote("'" + folder +
              "' has a chat_template, a program in Jinja that tessera does not "
              "run; the conversation is plain text, with \"User:\" and "
              "\"Assistant:\" before what each says, which this model may not "
              "be trained for");
}

bool Chat::open() {
  if (!model.openTokenizer())
    return false;
  if (!model.tokenizer.hasTokenizer())
    return !printError("--chat needs a tokenizer, and there is none in '" +
                       model.folder() + "'; name one with --tokenizer");
  noteTemplate();
  if (!model.open())
    return false;
  places = model.places();
  return true;
}

/// Returns the conversation up to where the model is to answer.
std::string Chat::text() const {
  std::string text;
  for (const std::string &prompt : options.prompts)
    text += prompt + "\n";
  for (const Exchange &exchange : exchanges)
    text += std::string(kUser) + " " + exchange.line + "\n" + kModel +
            exchange.answer + (&exchange == &exchanges.back() ? "" : "\n");
  return text;
}

/// Leaves out the oldest lines until the prompt has place for an answer.
bool Chat::fit(std::vector<int32_t> &prompt) {
  const int64_t room = std::min(options.maxNewTokens, places / 2);
  size_t left = 0;
  for (;; exchanges.pop_front(), ++left) {
    if (!model.tokenizer.encode(text(), prompt))
      return false;
    const auto count = static_cast<int64_t>(prompt.size());
    if (count + room <= places)
      break;
    if (exchanges.size() == 1) {
      exchanges.clear();
      return !printError("the line has, with what belongs to it, " +
                         std::to_string(count) + " tokens, of at most " +
                         std::to_string(places - room) +
                         "; make it shorter, or compile the model with a "
                         "larger --max-length");
    }
  }
  if (left > 0)
    printNote((left == 1 ? "the oldest line and its answer are"
                         : "the oldest " + std::to_string(left) +
                               " lines and their answers are") +
              " left out from now on: all together have at most " +
              std::to_string(places) + " tokens");
  return true;
}

/// A text after "Assistant:" begins with a space, which is not for the eye.
void Chat::show(const std::string &part, bool isFirst) const {
  llvm::StringRef shown = part;
  printModelText(isFirst ? shown.ltrim() : shown);
  flushOutput();
}

bool Chat::stream(int64_t request, std::string &answer) {
  std::vector<std::string> stops = options.stops;
  stops.push_back(std::string("\n") + kUser);
  TextOfTokens::Stream stream(model.tokenizer, stops);
  tsr_generated made = {};
  while (!made.ended) {
    int32_t found = 0;
    if (tsr_generator_next(model.get(), &made, &found) != TSR_OK ||
        (!found && tsr_generator_step(model.get(), nullptr) != TSR_OK))
      return !printError(tsr_last_error());
    if (!found)
      continue;
    if (made.ended == TSR_ENDED_FAILED)
      return !printError("the logits are not numbers; are the weights the "
                         "model's?");
    std::string added;
    if (made.token >= 0 && made.ended != TSR_ENDED_STOP)
      added = stream.push(made.token);
    if (made.ended)
      added += stream.finish();
    else if (stream.isStopped())
      tsr_generator_cancel(model.get(), request);
    show(added, llvm::StringRef(answer).trim().empty());
    answer += added;
  }
  standardOutput() << "\n";
  flushOutput();
  return true;
}

bool Chat::answer(const std::string &line) {
  exchanges.push_back({line, ""});
  std::vector<int32_t> prompt;
  if (!fit(prompt))
    return false;
  const tsr_request_options request = model.request();
  int64_t id = 0;
  if (tsr_generator_add(model.get(), prompt.data(), prompt.size(), &request,
                        &id) != TSR_OK)
    return !printError(tsr_last_error());
  return stream(id, exchanges.back().answer);
}

bool Chat::run() {
  if (!open())
    return false;
  const bool asks = isatty(STDIN_FILENO);
  for (std::string line;;) {
    if (asks)
      standardError() << "> ";
    if (!std::getline(std::cin, line))
      break;
    if (!llvm::StringRef(line).trim().empty() && !answer(line))
      return false;
  }
  if (asks)
    standardError() << "\n";
  return true;
}
