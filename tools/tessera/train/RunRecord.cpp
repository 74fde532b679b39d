//===- RunRecord.cpp - what a checkpoint knows of its run -----------------===//

#include "tools/tessera/train/RunRecord.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/program_fields.hpp"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/StepLog.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;
namespace json = llvm::json;

static constexpr const char *kRecipe = "recipe";

static std::optional<json::Object> objectOf(llvm::StringRef text) {
  auto parsed = parseJson(text, json_kinds::manifest);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  json::Object *object = parsed->getAsObject();
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

std::optional<json::Object> tessera::manifestIn(const std::string &directory) {
  tsr_checkpoint *checkpoint = nullptr;
  if (tsr_checkpoint_open(directory.c_str(), &checkpoint) != TSR_OK)
    return std::nullopt; // loading it says why
  std::optional<json::Object> manifest =
      objectOf(tsr_checkpoint_manifest(checkpoint));
  tsr_checkpoint_destroy(checkpoint);
  return manifest;
}

json::Object tessera::readRecord(const std::string &directory,
                                 llvm::StringRef name) {
  std::optional<json::Object> manifest = manifestIn(directory);
  json::Object *records = manifest ? manifest->getObject("records") : nullptr;
  json::Object *record = records ? records->getObject(name) : nullptr;
  return record ? std::move(*record) : json::Object();
}

bool tessera::keepRecord(tsr_session *session, const char *name,
                         json::Object record) {
  std::string text = llvm::formatv("{0}", json::Value(std::move(record))).str();
  return tsr_session_set_record(session, name, text.c_str()) == TSR_OK ||
         !printError(tsr_last_error());
}

//===----------------------------------------------------------------------===//
// The recipe
//===----------------------------------------------------------------------===//

static void readTexts(const json::Object *object,
                      std::map<std::string, std::string> &texts) {
  if (object)
    for (const auto &[key, value] : *object)
      if (auto text = value.getAsString())
        texts[key.str()] = text->str();
}

bool tessera::readRecipe(const std::string &directory, RunRecipe &recipe) {
  std::optional<json::Object> manifest = manifestIn(directory);
  if (!manifest)
    return false;
  if (auto seed = manifest->getInteger("seed"))
    recipe.seed = *seed;
  json::Object *records = manifest->getObject("records");
  json::Object *record = records ? records->getObject(kRecipe) : nullptr;
  if (!record)
    return true;
  readTexts(record->getObject("given"), recipe.given);
  readTexts(record->getObject("values"), recipe.values);
  return true;
}

static std::string numberText(const json::Value &value) {
  if (auto integer = value.getAsInteger())
    return std::to_string(*integer);
  if (auto text = value.getAsString())
    return text->str();
  std::optional<double> number = value.getAsNumber();
  return number ? exactText(*number) : "none";
}

std::map<std::string, std::string>
tessera::recipeValues(const TrainOptions &options, const char *metadata) {
  namespace model = program_fields::Model;
  namespace optimizer = program_fields::Optimizer;
  namespace keys = program_fields::Program;
  static constexpr std::pair<ProgramField, const char *> ofModel[] = {
      {model::batch, "--batch"},
      {model::sequence, "--seq-length"},
      {model::target, "--decoder-seq-length"},
      {model::ignoresLabels, "--ignore-labels"},
      {model::separator, "--document-mask"},
      {model::padding, "--padding-mask"}};
  static constexpr std::pair<ProgramField, const char *> ofOptimizer[] = {
      {optimizer::kind, "--optimizer"},
      {optimizer::beta1, "--beta1"},
      {optimizer::beta2, "--beta2"},
      {optimizer::momentum, "--momentum"},
      {optimizer::clip, "--clip"},
      {optimizer::weightDecay, "--weight-decay"}};
  std::map<std::string, std::string> values;
  std::optional<json::Object> root = objectOf(metadata);
  auto read = [&](const ProgramField &part, auto &table) {
    const json::Object *object = root ? root->getObject(part.key) : nullptr;
    for (const auto &[field, flag] : table)
      if (const json::Value *value = object ? object->get(field.key) : nullptr)
        values[flag] = numberText(*value);
      else
        values[flag] = "none";
  };
  read(keys::model, ofModel);
  read(keys::optimizer, ofOptimizer);
  if (const json::Value *value =
          root ? root->get(keys::precision.key) : nullptr)
    values["--precision"] = numberText(*value);
  const LearningRateOptions &rate = options.plan.learningRate;
  values["--lr"] = numberText(rate.largest);
  values["--lr-schedule"] = nameOf(rate.schedule);
  values["--min-lr"] = numberText(rate.smallest);
  values["--warmup-steps"] = std::to_string(rate.warmupSteps);
  values["--decay-steps"] = std::to_string(rate.decaySteps);
  if (options.epochs > 0)
    values["--epochs"] = numberText(options.epochs);
  else
    values["--steps"] = std::to_string(rate.totalSteps);
  for (const char *flag : {"--freeze", "--lora", "--no-decay"}) {
    auto given = options.recipe.now.find(flag);
    if (!options.isArtifact())
      values[flag] = given == options.recipe.now.end() ? "none" : given->second;
  }
  return values;
}

static json::Object textsOf(const std::map<std::string, std::string> &texts) {
  json::Object object;
  for (const auto &[key, text] : texts)
    object[key] = json::fixUTF8(text);
  return object;
}

bool tessera::keepRecipe(const TrainOptions &options, const char *metadata,
                         tsr_session *session) {
  std::map<std::string, std::string> values = recipeValues(options, metadata);
  for (const auto &[flag, value] : values) {
    auto before = options.recipe.values.find(flag);
    if (options.launch.rank == 0 && before != options.recipe.values.end() &&
        before->second != value)
      printNote(flag + " " + value + " instead of the run's " + before->second);
  }
  return keepRecord(session, kRecipe,
                    json::Object{{"given", textsOf(options.recipe.now)},
                                 {"values", textsOf(values)}});
}
