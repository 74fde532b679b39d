//===- Answers.cpp - what the page of tessera explore is answered ---------===//

#include "tools/tessera/explore/Answers.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Options/MeshAxis.h"
#include "tools/tessera/explore/ChildProcess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace llvm;
using namespace tessera;

/// Limits the data of a plan.
static constexpr size_t kMostBytes = 256 << 20;
/// Plans that wait for the one that is compiled.
static constexpr int kMostWaiting = 4;
static constexpr size_t kMostLetters = 1000; ///< Limits a value.

Answers::Answers(const ExploreOptions &options)
    : options(options),
      program(sys::fs::getMainExecutable(
          nullptr, reinterpret_cast<void *>(&tessera::servePage))) {}

json::Value Answers::choices() const {
  json::Array entries;
  for (const OptionEntry &entry : options.choices) {
    json::Object object{{"name", entry.names.front()},
                        {"group", entry.group},
                        {"value", entry.value},
                        {"standard", entry.standard},
                        {"what", entry.what},
                        {"is_switch", entry.kind == ValueKind::None},
                        {"choices", json::Array(entry.choices)}};
    if (auto given = options.given.find(entry.names.front());
        given != options.given.end())
      object["given"] = json::fixUTF8(given->second);
    entries.push_back(std::move(object));
  }
  json::Array axes;
  for (const Name<MeshAxis> &row : Names<MeshAxis>::table)
    axes.push_back(row.name);
  return json::Object{
      {"model", json::fixUTF8(options.model)},
      {"cluster", json::fixUTF8(options.cluster)},
      {"axes", std::move(axes)},
      {"options", std::move(entries)},
  };
}

static Error refusal(const Twine &why) {
  return createStringError(inconvertibleErrorCode(), why);
}

/// A value is part of its word, so that it cannot be taken for an option.
Error Answers::addOption(StringRef name, const json::Value &value,
                         std::vector<std::string> &words) const {
  auto entry = llvm::find_if(options.choices, [&](const OptionEntry &each) {
    return each.names.front() == name;
  });
  if (entry == options.choices.end())
    return refusal("the page may not choose the option '" + name +
                   "'; give it to tessera explore itself");
  if (std::optional<bool> isOn = value.getAsBoolean()) {
    if (entry->kind != ValueKind::None)
      return refusal(name + " needs a value: " + entry->value);
    words.push_back((name + (*isOn ? "" : "=false")).str());
    return Error::success();
  }
  std::optional<StringRef> text = value.getAsString();
  if (!text || text->size() > kMostLetters ||
      llvm::any_of(*text, [](unsigned char c) { return c < ' '; }))
    return refusal(name + " must be true, false or a line of at most " +
                   Twine(kMostLetters) + " letters");
  words.push_back((name + "=" + *text).str());
  return Error::success();
}

/// Returns the command that compiles the plan that the body asks for.
Expected<std::vector<std::string>> Answers::wordsOf(StringRef body) const {
  Expected<json::Value> value = parseJson(body, json_kinds::page_request);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  const json::Object *chosen = object ? object->getObject("options") : nullptr;
  if (!chosen)
    return refusal("the body must be a JSON object with options");
  std::vector<std::string> words = {program, "explore", options.model,
                                    "--json"};
  if (!options.cluster.empty())
    words.push_back("--cluster=" + options.cluster);
  if (options.ranks)
    words.push_back("--ranks=" + std::to_string(options.ranks));
  for (const auto &[name, text] : *chosen)
    if (Error error = addOption(name, text, words))
      return error;
  return words;
}

static std::string errorAnswer(StringRef why) {
  return formatv("{0}",
                 json::Value(json::Object{{"error", json::fixUTF8(why)}}))
      .str();
}

std::string Answers::compile(const std::vector<std::string> &words,
                             const IsAwaited &isAwaited) {
  ChildResult result = runChild(words, kMostBytes, isAwaited);
  std::string said = json::fixUTF8(StringRef(result.errors).rtrim());
  if (!result.failure.empty())
    return errorAnswer("the compiler gave no answer: " + result.failure +
                       (said.empty() ? "" : "\n" + said));
  if (result.exitCode)
    return errorAnswer(said.empty()
                           ? "the compiler has failed with exit code " +
                                 std::to_string(result.exitCode)
                           : said);
  // The output is JSON as it is.
  return "{\"notes\":" + formatv("{0}", json::Value(said)).str() +
         ",\"data\":" + StringRef(result.output).rtrim().str() + "}";
}

std::string Answers::to(const std::string &body, const IsAwaited &isAwaited) {
  Expected<std::vector<std::string>> words = wordsOf(body);
  if (!words)
    return errorAnswer(toString(words.takeError()));
  std::unique_lock<std::mutex> lock(mutex);
  if (waiting >= kMostWaiting)
    return errorAnswer("as many plans as may wait do so; try again later");
  ++waiting;
  bool isStillAwaited = true;
  while (isCompiling && isStillAwaited) {
    isFree.wait_for(lock, std::chrono::milliseconds(100));
    isStillAwaited = isAwaited();
  }
  --waiting;
  if (!isStillAwaited)
    return errorAnswer("nobody waits for it any more");
  isCompiling = true;
  lock.unlock();
  std::string answer = compile(*words, isAwaited);
  lock.lock();
  isCompiling = false;
  isFree.notify_one();
  return answer;
}
