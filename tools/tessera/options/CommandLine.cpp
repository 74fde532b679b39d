//===- CommandLine.cpp - the command line of every subcommand -------------===//
// Parses it and checks what was given; DeclaredOptions.cpp says which options
// there are.
//===----------------------------------------------------------------------===//

#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Plan/PlanFile.h"
#include "tessera/printable.hpp"
#include "tools/tessera/options/DataWeights.h"
#include "tools/tessera/options/HelpFiles.h"
#include "tools/tessera/options/RecipeOptions.h"
#include "tools/tessera/options/SecretFile.h"
#include "tools/tessera/options/Suggestion.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <stdexcept>

using namespace tessera;

namespace {

std::string messageOf(const CLI::Error &error) {
  std::string what = error.what();
  // "--steps: At Most 1 required but received 2"
  const std::string once = ": At Most 1 required but received ";
  if (size_t at = what.find(once); at != std::string::npos)
    return what.substr(0, at) + " is given " + what.substr(at + once.size()) +
           " times; give it once";
  if (!what.empty())
    what[0] = static_cast<char>(std::tolower(what[0]));
  return what + "; see --help";
}

//===----------------------------------------------------------------------===//
// What processes agree on
//===----------------------------------------------------------------------===//

/// The options of a run that each process may have for itself; all others, and
/// with them each that is added, must be the same in all processes.
const std::set<std::string> ownOptions = {
    // Compared by what they name: hash, tokens, kind, signer, checkpoints.
    "model", "--data", "--eval-data", "--device", "--communicator",
    "--trusted-key", "--resume", "--resume-if-any",
    // The machine's.
    "--cpu", "--threads", "--rendezvous", "--rendezvous-timeout-ms",
    "--secret-file", "--trust-network",
    // Of runs in one process.
    "--sample-every", "--sample-prompt",
    // Rank 0 alone reads, or says.
    "--tokenizer", "--peak-flops",
    // Rank 0 alone writes, or each process a file of its own.
    "--log", "--tensorboard", "--trace", "--html", "--cluster",
    // What it gives is compared.
    "--plan",
    // Other words for --mesh.
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
std::string exactText(FlagCheck, double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

//===----------------------------------------------------------------------===//
// CommandLine
//===----------------------------------------------------------------------===//

/// The options of all commands and, after parsing, checks of what concerns
/// several.
class CommandLine : RecipeOptions {
public:
  explicit CommandLine(DriverOptions &options) : RecipeOptions(options) {
    app.failure_message([](const CLI::App *, const CLI::Error &error) {
      return "error: " + printableMessage(messageOf(error)) + "\n";
    });
  }
  ParseResult parse(int argc, char **argv, RecipeReader reader);

private:
  std::vector<std::string> namesOf(const std::string &command);
  void checkCommand(const std::string &word);
  void checkOptions(const std::string &command,
                    const std::vector<std::string> &words);
  void check();
  void applyPlan();
  void applyOption(CLI::App &sub, const std::string &name,
                   const std::string &text);
  void checkPlanning();
  bool isChoice(const OptionEntry &entry) const;
  void checkExplore();
  void checkMesh();
  GivenFlags givenFlags() const;
  void checkRules();
  void checkLaunch();
  void readSecret();
  void checkLearningRate();
  void checkEpochs();
  void checkCheckpoints();
  void checkVerification();
  void checkArtifact();
  void checkTrust();
  void checkMeasured();
  void checkEvaluation();
  void chooseEncoding();
  void checkSamples();
  void checkPrograms();
  void checkGeneration();
  std::map<std::string, std::string> planTexts() const;
  RecipeReader readRecipe = nullptr;
  void collectShared();
  void collectGiven();
  void checkPage();
};

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::string suggestion(const std::string &name, const std::string &otherwise) {
  return name.empty() ? otherwise : "did you mean " + name + "?";
}

/// The parser itself would only say that a subcommand is required.
void CommandLine::checkCommand(const std::string &word) {
  if (word.rfind("-", 0) == 0)
    return;
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App *sub : app.get_subcommands({})) {
    if (sub->get_name() == word)
      return;
    names.push_back(sub->get_name());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  refuse("unknown command '" + word + "'; " +
         suggestion(nearestName(word, names), "use one of " + list));
}

std::string suggestOption(const std::string &name,
                          const std::vector<std::string> &names,
                          const std::string &command) {
  if (std::string other = standInFor(name); !other.empty())
    return "here that is " + other;
  return suggestion(name.size() > 2 ? nearestName(name, names) : "",
                    "see tessera " + command + " --help");
}

/// The parser itself would first miss what a mistyped option was to give.
void CommandLine::checkOptions(const std::string &command,
                               const std::vector<std::string> &words) {
  if (command.rfind("-", 0) == 0)
    return;
  std::vector<std::string> names = namesOf(command);
  for (const std::string &word : words) {
    std::string name = word.substr(0, word.find('='));
    if (word == "--")
      return;
    // "-1" is a number.
    bool isOption = word.size() > 1 && word[0] == '-' && !std::isdigit(word[1]);
    if (isOption && word[1] != '-')
      name.resize(2); // "-oFILE"
    if (isOption && std::find(names.begin(), names.end(), name) == names.end())
      refuse("unknown option '" + name + "'; " +
             suggestOption(name, names, command));
  }
}

/// All names of the options of a command.
std::vector<std::string> CommandLine::namesOf(const std::string &command) {
  std::vector<std::string> names = {"-h", "--help", "--version"};
  for (const CLI::App *sub : app.get_subcommands({}))
    if (sub->get_name() == command)
      for (const CLI::Option *option : sub->get_options()) {
        for (const std::string &name : option->get_lnames())
          names.push_back("--" + name);
        for (const std::string &name : option->get_snames())
          names.push_back("-" + name);
      }
  return names;
}

/// What the file of --plan says is as if it stood on the command line.
void CommandLine::applyPlan() {
  if (options.planFile.empty())
    return;
  if (options.isArtifact())
    refuse("'" + options.model +
           "' is compiled already, so --plan cannot change it; give the "
           "config.json instead");
  plan::PlanFile plan;
  refuseUnless(plan::readPlan(options.planFile, plan));
  refuseUnless(plan::checkModel(plan, options.planFile, options.model));
  for (const auto &[name, text] : plan.options)
    applyOption(*app.get_subcommands().front(), "--" + name, text);
}

/// Of a plan. What is given besides must say the same.
void CommandLine::applyOption(CLI::App &sub, const std::string &name,
                              const std::string &text) {
  std::vector<std::string> names;
  for (const Flag &flag : flags)
    names.push_back(flag.name);
  if (std::find(names.begin(), names.end(), name) == names.end())
    refuse("'" + options.planFile + "': unknown option '" + name.substr(2) +
           "'; " +
           suggestion(nearestName(name, names), "see tessera compile --help"));
  CLI::Option *option = sub.get_option(name);
  if (option->count()) {
    std::string given = givenText(*option);
    if (given != text)
      refuse("'" + options.planFile + "' says " + name + " " + text +
             ", but the command line says " + given +
             "; leave out one of the two");
    return;
  }
  // The parser would take "5" for true.
  PlanOptions scratch;
  if (option->get_items_expected_max() == 0)
    if (std::string why = setPlannedFlag(scratch, name.substr(2), text);
        !why.empty())
      refuse("'" + options.planFile + "': " + why);
  try {
    option->add_result(text);
    option->run_callback();
  } catch (const CLI::ParseError &error) {
    std::string why = error.what();
    refuse("'" + options.planFile +
           "': " + (why.rfind("error: ", 0) == 0 ? why.substr(7) : why));
  }
}

/// The innermost axis of the aliases comes first: each goes outside of those
/// that are there.
void CommandLine::checkMesh() {
  MeshShape &mesh = options.plan.mesh;
  for (auto alias = aliases.rbegin(); alias != aliases.rend(); ++alias) {
    auto [axis, size] = *alias;
    if (!size)
      continue;
    for (const MeshShape::Axis &known : mesh.axes)
      if (known.axis == axis && known.size != size)
        refuse("--mesh says " + std::string(nameOf(axis)) + "=" +
               std::to_string(known.size) + ", but " + aliasNames[axis] +
               " says " + std::to_string(size) + "; give one of the two");
    refuseUnless(mesh.add(axis, size));
  }
  int64_t ranks = options.plan.mesh.ranks();
  if (options.ranks && ranks > options.ranks)
    refuse("mesh " + options.plan.mesh.str() + " has " + std::to_string(ranks) +
           " ranks, but --ranks allows " + std::to_string(options.ranks) +
           "; use a smaller mesh or raise --ranks");
}

/// Returns the flags of the table that are given, except those about what a
/// cluster or a search is yet to decide.
GivenFlags CommandLine::givenFlags() const {
  GivenFlags given;
  for (const Flag &flag : flags)
    if (flag.option->count())
      given.insert(flag.name);
  auto leaveOut = [&](FlagPurpose purpose) {
    for (const std::string &name : flagsFor(purpose))
      given.erase(name);
  };
  if (options.simulate.takesDevice)
    leaveOut(FlagPurpose::Cuda);
  if (options.command == Command::Plan && options.plan.mesh.axes.empty() &&
      options.planning.gpus != 1)
    leaveOut(FlagPurpose::Stages);
  return given;
}

/// A search checks each of its plans, and nothing changes an artifact.
void CommandLine::checkRules() {
  const GivenFlags given = givenFlags();
  completePlan(options.plan, given);
  if (options.command == Command::Plan)
    return refuseUnless(checkGiven(options.plan, given));
  if (!options.isArtifact())
    refuseUnless(checkPlan(options.plan, given));
  options.plan.optimizer = completed(options.plan.optimizer);
}

/// What is given is not searched.
void CommandLine::checkPlanning() {
  if (options.command != Command::Plan)
    return;
  std::map<std::string, std::string> &given = options.planning.given;
  for (const Flag &flag : flags)
    if (flag.option->count())
      given[flag.name] = givenText(*flag.option);
  for (const auto &[axis, name] : aliasNames)
    if (given.erase(name))
      given["--mesh"] = options.plan.mesh.str();
  if (options.planning.explained.empty() && !options.plan.sizes.batch)
    refuse("the number of sequences in a step is not searched, as it changes "
           "what is learnt; give --global-batch");
  if (!options.planning.explained.empty() && !options.html.empty())
    refuse("--html shows the plans of a search, but --explain compares two "
           "without one; leave out one of the two");
  if (given.count("--programs") ||
      options.plan.memory.recompute == Recompute::Auto)
    refuse("tessera plan searches plans for training, and ways to recompute "
           "itself; leave out --programs and --recompute auto");
  int64_t &gpus = options.planning.gpus;
  int64_t ranks = options.plan.mesh.ranks();
  if (given.count("--mesh") && gpus && ranks != gpus)
    refuse("--mesh " + options.plan.mesh.str() + " has " +
           std::to_string(ranks) + " ranks, but --gpus says " +
           std::to_string(gpus) + "; leave out one of the two");
  if (given.count("--mesh"))
    gpus = ranks;
}

/// Whether the page of tessera explore may choose an option: one of
/// PlanFlags.def that names no file. Aliases are other words for --mesh.
bool CommandLine::isChoice(const OptionEntry &entry) const {
  for (const auto &[axis, name] : aliasNames)
    if (entry.names.front() == name)
      return false;
  return std::any_of(flags.begin(), flags.end(), [&](const Flag &flag) {
    return flag.name == entry.names.front() && !namesPath(flag.check);
  });
}

void CommandLine::checkExplore() {
  if (options.command != Command::Explore)
    return;
  if (options.isArtifact())
    refuse("'" + options.model +
           "' is compiled already: its mesh cannot change, and it does not "
           "hold the program after each pass; give the config.json that it was "
           "made of, or use tessera report, which writes its page with --html");
  if (options.explore.port > 65535)
    refuse("--port: must be a number from 0 to 65535, but is " +
           std::to_string(options.explore.port));
  for (const CommandEntry &command : commandTable(app))
    for (const OptionEntry &entry : command.options)
      if (command.name == "explore" && isChoice(entry))
        options.explore.choices.push_back(entry);
  std::map<std::string, std::string> &given = options.explore.given;
  for (const OptionEntry &entry : options.explore.choices)
    for (const Flag &flag : flags)
      if (flag.name == entry.names.front() && flag.option->count())
        given[flag.name] = givenText(*flag.option);
  if (!options.plan.mesh.axes.empty())
    given["--mesh"] = options.plan.mesh.str();
  for (const Flag &flag : flags)
    if (namesPath(flag.check) && flag.option->count() && options.html.empty() &&
        !options.json)
      refuse(flag.name + " would be written again with every change; give it "
                         "to tessera report");
}

/// Only a run is done by several processes.
void CommandLine::checkLaunch() {
  if (!options.isRun())
    return;
  Launch &launch = options.launch;
  refuseUnless(readLaunch(std::getenv, launch));
  options.isFirstProcess = launch.rank == 0;
  if (launch.isAlone()) {
    if (!rendezvous.empty() || options.communicator == "tcp")
      refuse("--rendezvous and --communicator tcp are for several processes, "
             "but RANK and WORLD_SIZE are not set; start with torchrun or "
             "srun");
    return;
  }
  if (!rendezvous.empty())
    launch.rendezvous = rendezvous;
  readSecret();
  if (options.communicator == "threads")
    refuse("--communicator threads is for one process, but the environment "
           "says that there are " +
           std::to_string(launch.worldSize) +
           " (WORLD_SIZE or SLURM_NTASKS); start one process, or leave it out");
}

void CommandLine::readSecret() {
  const char *variable = std::getenv("TESSERA_SECRET");
  options.secret = variable ? variable : "";
  if (secretFile.empty())
    return;
  if (std::string why =
          readSecretFile(secretFile, &options.secret, &options.secretNote);
      !why.empty())
    refuse("--secret-file: " + why);
}

/// What an artifact has is not known here: its run merges and checks.
void CommandLine::checkLearningRate() {
  for (const std::string &name : flagsFor(FlagPurpose::LearningRate))
    if (isGiven(name))
      options.givenRate.insert(name);
  if (options.epochs > 0)
    return checkEpochs();
  if (!options.isArtifact())
    refuseUnless(completeRate(options.plan.learningRate, options.givenRate));
}

/// The number of steps that epochs make is known once the data is open.
void CommandLine::checkEpochs() {
  if (isGiven("--steps"))
    refuse("--epochs and --steps both say how long the run is; give one of the "
           "two");
  if (!options.dataWeights.empty())
    refuse("--epochs counts passes over the data, but files with weights are "
           "passed over at different rates; give --steps");
  if (options.changesData)
    refuse("--epochs counts passes over the data, which --change-data changes; "
           "give --steps");
}

void CommandLine::checkCheckpoints() {
  options.resumes = resume->count() > 0;
  if (options.resumes && options.resumeDir.empty())
    options.resumeDir = options.checkpointDir;
  if (options.resumes && options.resumeDir.empty())
    refuse("--resume needs a directory; name one, or give --checkpoint-dir");
  if (options.changesData && !options.resumes && !options.resumesIfAny)
    refuse("--change-data is for a run that goes on, but there is neither "
           "--resume nor --resume-if-any; leave it out");
  for (const char *name :
       {"--save-every", "--keep", "--max-shard-size", "--resume-if-any"})
    if (train && train->get_option(name)->count() &&
        options.checkpointDir.empty())
      refuse(std::string(name) + " needs --checkpoint-dir");
}

/// Data, or questions.
void CommandLine::checkMeasured() {
  if (options.data.empty() && options.choices.empty())
    refuse("nothing says what to evaluate on; give --data or --choices");
  for (const char *name :
       {"--data", "--eval-batches", "--validation-fraction", "--data-format"})
    if (!options.choices.empty() && evaluate->get_option(name)->count())
      refuse(std::string(name) + " is about the loss on data, --choices about "
                                 "questions; give one of the two");
}

void CommandLine::checkEvaluation() {
  if (options.command == Command::Evaluate)
    checkMeasured();
  if (options.command == Command::Evaluate && !options.dataWeights.empty())
    refuse("evaluate measures every sequence once, so files have no weights; "
           "leave them out");
  if (options.command != Command::Train)
    return;
  if (!options.evalData.empty() && options.validationFraction > 0)
    refuse("--eval-data names what is evaluated, so that nothing would read "
           "what --validation-fraction holds out; give one of the two");
  bool hasData = options.hasEvaluationData();
  for (const char *name : {"--eval-every", "--eval-batches", "--tokenizer",
                           "--keep-best", "--early-stop"})
    if (train->get_option(name)->count() && !hasData &&
        !(options.sampleEvery && name == std::string("--tokenizer")))
      refuse(std::string(name) +
             " is about evaluations, but there is nothing to evaluate on; give "
             "--eval-data or --validation-fraction");
  if (options.keepsBest && options.checkpointDir.empty())
    refuse("--keep-best needs --checkpoint-dir");
  if (options.earlyStop && !options.evalEvery)
    refuse("--early-stop needs --eval-every: how often to look");
  if (hasData && !options.plan.evaluation)
    refuse("--no-evaluation leaves out the program that evaluations run; leave "
           "it out");
}

/// Texts during a run are of the program that trains.
void CommandLine::checkSamples() {
  if (options.command != Command::Train)
    return;
  if ((options.sampleEvery > 0) != !options.samplePrompts.empty())
    refuse("--sample-every says how often, and --sample-prompt what a text "
           "begins with; give both");
  if (!options.sampleEvery)
    return;
  if (!options.launch.isAlone())
    refuse("--sample-every needs all ranks in one process; leave it out, and "
           "generate from the checkpoints of the run");
  ProgramSet &programs = options.plan.programs;
  if (isGiven("--programs") && !generates(programs))
    refuse("--sample-every runs programs that continue texts, which --programs "
           "train leaves out; give --programs train,generate");
  if (!options.isArtifact())
    programs = ProgramSet::TrainAndGenerate;
}

/// What the numbers of a verification cannot be compared of.
void CommandLine::checkVerification() {
  if (options.command == Command::Verify &&
      options.plan.optimizer.kind == OptimizerKind::Lion)
    refuse("verify cannot compare steps of --optimizer lion: the sign of a "
           "momentum that is 0 but for rounding may be either; verify the same "
           "plan with --optimizer sgd, which differs in the update alone");
  if (options.command == Command::Verify &&
      options.plan.programs == ProgramSet::TrainAndGenerate)
    refuse("verify compares either a training step or programs that continue "
           "texts with what they are made of; give --programs train, and then "
           "--programs generate");
}

/// tessera encode runs one program, on texts.
void CommandLine::chooseEncoding() {
  ProgramSet &programs = options.plan.programs;
  if (isGiven("--programs") && !encodes(programs))
    refuse("encode runs the program that encodes texts, but --programs asks "
           "for others; leave it out");
  if (!options.isArtifact())
    programs = ProgramSet::Encode;
  if (options.encode.texts.empty() && options.encode.textIds.empty())
    refuse("nothing says what is to be encoded; give --text or --text-ids");
}

/// Chooses the programs that a command runs.
void CommandLine::checkPrograms() {
  bool generates = options.command == Command::Generate;
  ProgramSet &programs = options.plan.programs;
  if (options.command == Command::Encode)
    chooseEncoding();
  if (generates && isGiven("--programs") && programs != ProgramSet::Generate)
    refuse("generate runs the programs that continue texts, but --programs "
           "asks for others; leave it out");
  if (generates && !options.isArtifact())
    programs = ProgramSet::Generate;
  bool isScored = programs == ProgramSet::Generate && !options.choices.empty();
  if (options.isRun() && !trains(programs) && !isScored)
    refuse("--programs " + std::string(nameOf(programs)) +
           " makes no training step; leave it out");
}

/// What is continued, and how the runtime may choose tokens. It would take a
/// --top-p of 0 for one that is not given.
void CommandLine::checkGeneration() {
  GenerateOptions &given = options.generate;
  auto range = [](const char *name, double value, bool isLegal,
                  const char *what) {
    if (!isLegal)
      refuse(std::string(name) + ": must be " + what + ", but is " +
             exactText({}, value));
  };
  range("--temperature", given.temperature,
        given.temperature >= 0 && std::isfinite(given.temperature),
        "a finite number not below 0");
  range("--top-p", given.topP, given.topP > 0 && given.topP <= 1,
        "a number above 0 and at most 1");
  range("--min-p", given.minP, given.minP >= 0 && given.minP <= 1,
        "a number from 0 to 1");
  range("--repetition-penalty", given.repetitionPenalty,
        given.repetitionPenalty >= 0.01 && given.repetitionPenalty <= 100,
        "a number from 0.01 to 100");
  if (given.showsLogProbabilities && !options.json)
    refuse("--log-probabilities are written in JSON; give --json, too");
  for (const std::string &stop : given.stops)
    if (stop.empty())
      refuse("--stop '' would end every text before it begins; leave it out");
  if (given.isChat) {
    if (!given.promptIds.empty() || given.prompts.size() > 1 || options.json)
      refuse("--chat is a conversation in one text: give at most one --prompt, "
             "which begins it, and neither --prompt-ids nor --json");
  } else if (given.prompts.empty() && given.promptIds.empty()) {
    refuse("nothing says what is to be continued; give --prompt, --prompt-ids "
           "or --chat");
  }
}

void CommandLine::checkArtifact() {
  for (const Flag &flag : flags)
    if (flag.fate != Fate::Replaceable && flag.option->count() &&
        options.fixedByArtifact.empty())
      options.fixedByArtifact = flag.name;
  if (options.command == Command::Verify && options.isArtifact())
    refuse("'" + options.model +
           "' is compiled: verify compares a model's serial and parallel "
           "programs, which it compiles itself; give the config.json or .mlir "
           "that it was made from, with the options of its compilation");
  if (options.isArtifact() && !options.fixedByArtifact.empty())
    refuse("'" + options.model + "' is compiled already, so " +
           options.fixedByArtifact +
           " cannot change it; give the config.json instead");
}

void CommandLine::checkTrust() {
  if (!options.trustedKeys.empty() && !options.isArtifact())
    refuse("--trusted-key says who must have signed a .tsr file, but '" +
           options.model +
           "' is compiled by this run itself; give a .tsr file or leave it "
           "out");
}

/// The values of the options of PlanFlags.def, whether they are given or not.
std::map<std::string, std::string> CommandLine::planTexts() const {
  const PlanOptions &plan = options.plan;
  std::map<std::string, std::string> texts;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  texts[flagName(#NAME)] = exactText(FlagCheck::CHECK, plan.FIELD);
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  if (options.isArtifact())
    for (const std::string &name : flagsFor(FlagPurpose::LearningRate))
      if (!options.givenRate.count(name))
        texts[name] = "the artifact's";
  return texts;
}

void CommandLine::collectShared() {
  std::map<std::string, std::string> texts = planTexts();
  CLI::App *run = options.command == Command::Train ? train : evaluate;
  for (const CLI::Option *option : run->get_options()) {
    std::string name = option->get_name();
    if (ownOptions.count(name) || isOfOneProcess(name))
      continue;
    auto known = texts.find(name);
    options.shared.emplace_back(name, known == texts.end() ? givenText(*option)
                                                           : known->second);
  }
  std::string weights;
  for (double weight : options.dataWeights)
    weights += (weights.empty() ? "" : ", ") + exactText({}, weight);
  options.shared.emplace_back("weights of --data", weights);
}

void CommandLine::collectGiven() {
  for (const CLI::Option *option : train->get_options())
    if (option->count())
      options.given.emplace_back(option->get_name(), givenText(*option));
}

/// A run needs no cluster, but a traced step can be compared with one.
void CommandLine::checkPage() {
  if (options.command != Command::Train || options.cluster.empty())
    return;
  if (options.html.empty() || options.trace.empty())
    refuse("--cluster is for the page of a traced step; give --html and "
           "--trace, too");
}

void CommandLine::check() {
  applyPlan();
  // A token is named to be appended.
  options.tokenize.appendsEnd |= !options.tokenize.endToken.empty();
  bool isForCluster =
      options.command == Command::Plan ||
      (options.command == Command::Simulate && !options.isArtifact());
  options.simulate.takesDevice = isForCluster && !isGiven("--device");
  options.simulate.takesPrecision = isForCluster && !isGiven("--precision");
  checkMesh();
  applyRecipe(readRecipe);
  checkPlanning();
  checkExplore();
  checkSamples();
  checkPrograms();
  checkRules();
  if (options.command == Command::Generate)
    checkGeneration();
  checkLaunch();
  checkCheckpoints();
  if (options.isRun())
    refuseUnless(takeWeights(options.data, options.dataWeights));
  checkLearningRate();
  checkVerification();
  checkArtifact();
  checkTrust();
  if (!options.isRun())
    return;
  checkEvaluation();
  checkPage();
  collectShared();
  collectGiven();
}

/// "help" and "help COMMAND" are --help and COMMAND --help.
std::vector<char *> expandHelp(int argc, char **argv) {
  static char help[] = "--help";
  std::vector<char *> words(argv, argv + argc);
  if (argc > 1 && words[1] == std::string("help")) {
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  return words;
}

ParseResult CommandLine::parse(int argc, char **argv, RecipeReader reader) {
  readRecipe = reader;
  if (argc == 2 && argv[1] == std::string("--help-markdown")) {
    std::cout << helpAsMarkdown(app, *formatter);
    return {};
  }
  if (argc == 3 && argv[1] == std::string("--help-files")) {
    std::string why = writeHelpFiles(argv[2], commandTable(app));
    if (!why.empty())
      std::cerr << "error: " << printableMessage(why) << "\n";
    return {false, why.empty() ? 0 : 1, why};
  }
  try {
    if (argc > 1) {
      checkCommand(argv[1]);
      checkOptions(argv[1], {argv + 2, argv + argc});
    }
    app.parse(argc, argv);
    check();
    return {true, 0, ""};
  } catch (const CLI::ValidationError &error) {
    std::string message = error.what();
    if (message.rfind("error: ", 0) == 0)
      message = message.substr(7);
    std::cerr << "error: " << printableMessage(message) << "\n";
    return {false, 1, message};
  } catch (const CLI::ParseError &error) {
    bool isError = app.exit(error) != 0;
    return {false, isError, isError ? messageOf(error) : ""};
  } catch (const std::out_of_range &) { // "--no-overlap=99999999999999999999"
    std::string message = "a switch has a number of too many digits";
    std::cerr << "error: " << message << "\n";
    return {false, 1, message};
  }
}

} // namespace

ParseResult tessera::parseCommandLine(int argc, char **argv,
                                      DriverOptions &options,
                                      RecipeReader readRecipe) {
  std::vector<char *> words = expandHelp(argc, argv);
  return CommandLine(options).parse(static_cast<int>(words.size()),
                                    words.data(), readRecipe);
}

bool tessera::asksForJson(int argc, char **argv, const std::string &command) {
  return argc > 1 && argv[1] == command &&
         std::find(argv + 2, argv + argc, std::string("--json")) != argv + argc;
}
