//===- Agreement.cpp - what the processes of a run have alike -------------===//

#include "tools/tessera/options/Agreement.h"
#include "tools/tessera/options/Declare.h"
#include <map>
#include <set>

using namespace tessera;

namespace {

/// The options of a run that each process may have for itself; all others, and
/// with them each that is added, must be the same in all processes.
const std::set<std::string> ownOptions = {
    // Compared by what they name: hash, tokens, kind, signer, checkpoints.
    "model", "--data", "--eval-data", "--device", "--communicator",
    "--trusted-key", "--resume", "--resume-if-any",
    // These are about the machine.
    "--cpu", "--threads", "--rendezvous", "--rendezvous-timeout-ms",
    "--secret-file", "--trust-network",
    // Runs in one process alone have these.
    "--sample-every", "--sample-prompt",
    // Rank 0 alone reads, or says.
    "--tokenizer", "--peak-flops",
    // Rank 0 alone writes, or each process a file of its own.
    "--log", "--tensorboard", "--trace", "--html", "--cluster",
    // The options that it gives are compared.
    "--plan",
    // These are other words for --mesh.
    "--tensor-model-parallel-size", "--data-parallel-size",
    "--pipeline-model-parallel-size", "--help"};

/// Returns whether an option names a path, which each process has for itself.
bool isOfOneProcess(const std::string &option) {
  std::optional<FlagCheck> check =
      option.rfind("--", 0) == 0 ? checkOfFlag(option.substr(2)) : std::nullopt;
  return check && namesPath(*check);
}

/// A value by which two can be told apart.
template <typename T> std::string exactText(FlagCheck check, const T &value) {
  return flagText(check, value);
}
std::string exactText(FlagCheck, double value) { return exactNumber(value); }

} // namespace

/// Returns the values of the options of PlanFlags.def, given or not.
static std::map<std::string, std::string> planTexts(const PlannedModel &options,
                                                    const PlanGroup &group) {
  const PlanOptions &plan = options.plan;
  std::map<std::string, std::string> texts;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  texts[flagName(#NAME)] = exactText(FlagCheck::CHECK, plan.FIELD);
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  const GivenFlags given = group.givenRate();
  if (options.isArtifact())
    for (const std::string &name : flagsFor(FlagPurpose::LearningRate))
      if (!given.count(name))
        texts[name] = "the artifact's";
  return texts;
}

std::vector<std::pair<std::string, std::string>>
tessera::agreedOptions(const CLI::App &app, const RunSettings &options,
                       const PlanGroup &group) {
  std::map<std::string, std::string> texts = planTexts(options, group);
  std::vector<std::pair<std::string, std::string>> shared;
  for (const CLI::Option *option : app.get_options()) {
    std::string name = option->get_name();
    if (ownOptions.count(name) || isOfOneProcess(name))
      continue;
    auto known = texts.find(name);
    shared.emplace_back(name, known == texts.end() ? givenText(*option)
                                                   : known->second);
  }
  std::string weights;
  for (double weight : options.dataWeights)
    weights += (weights.empty() ? "" : ", ") + exactNumber(weight);
  shared.emplace_back("weights of --data", weights);
  return shared;
}
