//===- CommandLine.cpp - the command line of every subcommand -------------===//

#include "tessera/Options/PlanFlags.h"
#include "tools/tessera/options/DriverOptions.h"
#include "tools/tessera/options/HelpFiles.h"
#include "tools/tessera/options/HelpText.h"
#include "tools/tessera/options/PlanChecks.h"
#include "tools/tessera/options/Suggestion.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>

using namespace tessera;

namespace {

[[noreturn]] void refuse(const std::string &message) {
  throw CLI::ValidationError("error", message);
}

void refuseUnless(const std::string &why) {
  if (!why.empty())
    refuse(why);
}

std::string messageOf(const CLI::Error &error) {
  std::string what = error.what();
  if (!what.empty())
    what[0] = static_cast<char>(std::tolower(what[0]));
  return what + "; see --help";
}

/// The options of the table that a command has.
enum class Extent { Import, Plan };

/// When an option is fixed: in an imported program, in a .tsr file, or not
/// before its run.
enum class Fate { Imported, Compiled, Replaceable };

//===----------------------------------------------------------------------===//
// Options by type
//===----------------------------------------------------------------------===//

template <typename T> std::string valueName(FlagCheck, const T &) {
  std::string names;
  for (const auto &row : Names<T>::table)
    names += (names.empty() ? "" : "|") + std::string(row.name);
  return names;
}
std::string valueName(FlagCheck check, int64_t) {
  bool isSize = check == FlagCheck::Size || check == FlagCheck::SizeOrZero;
  return isSize ? "SIZE" : "INT";
}
std::string valueName(FlagCheck, int32_t) { return "INT"; }
std::string valueName(FlagCheck, double) { return "FLOAT"; }
std::string valueName(FlagCheck check, const std::string &) {
  return check == FlagCheck::File        ? "FILE"
         : check == FlagCheck::Directory ? "DIR"
                                         : "NAME";
}
std::string valueName(FlagCheck, const std::vector<int64_t> &) {
  return "INT,...";
}
std::string valueName(FlagCheck, const MeshShape &) { return "AXIS=SIZE,..."; }
std::string valueName(FlagCheck, const DeviceTarget &) { return "DEVICE"; }

template <typename T>
CLI::Option *declare(CLI::App *sub, const std::string &flag, FlagCheck check,
                     T &value, const std::string &help) {
  CLI::Option *option = sub->add_option_function<std::string>(
      flag,
      [=, &value](const std::string &text) {
        refuseUnless(readFlag(flag, check, text, value));
      },
      help);
  option->type_name(valueName(check, value));
  if (help.find("(default") == std::string::npos)
    option->default_str(flagText(check, value));
  return option;
}

CLI::Option *declare(CLI::App *sub, const std::string &flag, FlagCheck check,
                     std::vector<int64_t> &value, const std::string &help) {
  return sub
      ->add_option_function<std::vector<std::string>>(
          flag,
          [=, &value](const std::vector<std::string> &parts) {
            refuseUnless(
                readFlag(flag, check, CLI::detail::join(parts, ","), value));
          },
          help)
      ->delimiter(',')
      ->type_name(valueName(check, value));
}

/// What is on by default can be turned off.
CLI::Option *declare(CLI::App *sub, const std::string &flag, FlagCheck,
                     bool &value, const std::string &help) {
  if (!value)
    return sub->add_flag(flag, value, help);
  return sub->add_flag(flag + ",!--no-" + flag.substr(2), value, help)
      ->default_str("on");
}

/// A check of a word.
std::function<std::string(const std::string &)>
oneOf(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string &word) {
    std::string list;
    for (const std::string &known : words) {
      if (word == known)
        return std::string();
      list += (list.empty() ? "" : ", ") + known;
    }
    return "'" + word + "' is not supported; use one of " + list;
  };
}

//===----------------------------------------------------------------------===//
// What processes agree on
//===----------------------------------------------------------------------===//

/// The options of a run that each process may have for itself; all others, and
/// with them each that is added, must be the same in all processes.
const std::set<std::string> ownOptions = {
    // Compared by what they name: hash, tokens, kind, signer, checkpoints.
    "model", "--data", "--device", "--communicator", "--trusted-key",
    "--resume", "--resume-if-any",
    // The machine's.
    "--cpu", "--threads", "--rendezvous", "--rendezvous-timeout-ms",
    "--secret-file", "--trust-network",
    // Rank 0 alone writes, or each process a file of its own.
    "--log", "--trace", "--dump-ir", "--reproducer",
    // Other words for --mesh.
    "--tensor-model-parallel-size", "--data-parallel-size",
    "--pipeline-model-parallel-size", "--help"};

/// A value by which two can be told apart.
template <typename T> std::string exactText(FlagCheck check, const T &value) {
  return flagText(check, value);
}
std::string exactText(FlagCheck, double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string givenText(const CLI::Option &option) {
  return option.count() ? CLI::detail::join(option.results(), ",")
                        : option.get_default_str();
}

//===----------------------------------------------------------------------===//
// CommandLine
//===----------------------------------------------------------------------===//

/// Declares the options and, after parsing, checks what concerns several.
class CommandLine {
public:
  explicit CommandLine(DriverOptions &options);
  ParseResult parse(int argc, char **argv);

private:
  struct Flag {
    std::string name;
    const CLI::Option *option;
    Fate fate;
  };

  void declareCommands();
  CLI::App *command(Command command, const char *name, const char *what,
                    const char *example);
  void addModel(CLI::App *sub);
  void addPlan(CLI::App *sub, Extent extent);
  void addMeshAlias(CLI::App *sub, MeshAxis axis, const char *name);
  void beginGroup(CLI::App *sub, const std::string &title,
                  const std::string &example);
  void addRanks(CLI::App *sub);
  void addData(CLI::App *sub);
  void addCheckpoints(CLI::App *sub);
  void addLaunch(CLI::App *sub);
  void addTraining(CLI::App *sub);
  void addOutput(CLI::App *sub, const std::string &extension, const char *what);
  void addJson(CLI::App *sub);
  void addReport(CLI::App *sub);
  void addSigning(CLI::App *sub);
  void keep(const std::string &name, const CLI::Option *option, Fate fate) {
    flags.push_back({name, option, fate});
  }
  bool isGiven(const std::string &name) const;

  std::vector<std::string> namesOf(const std::string &command);
  void checkCommand(const std::string &word);
  void checkOptions(const std::string &command,
                    const std::vector<std::string> &words);
  void check();
  void checkMesh();
  void checkStages();
  void checkLaunch();
  void readSecret();
  void checkLearningRate();
  void checkCheckpoints();
  void checkArtifact();
  void checkTrust();
  std::map<std::string, std::string> planTexts() const;
  void collectShared();

  DriverOptions &options;
  std::shared_ptr<HelpFormatter> formatter = std::make_shared<HelpFormatter>();
  CLI::App app{"Tessera compiles a Transformer into a distributed training "
               "program and runs it",
               "tessera"};
  std::string rendezvous, secretFile;
  std::map<MeshAxis, int64_t> aliases; ///< Sizes of axes; 0: not given.
  std::vector<Flag> flags;             ///< Of the table, of all commands.
  CLI::Option *resume = nullptr;
  CLI::App *train = nullptr;
};

CLI::App *CommandLine::command(Command command, const char *name,
                               const char *what, const char *example) {
  CLI::App *sub = app.add_subcommand(name, what);
  sub->footer("tessera " + std::string(name) + example);
  sub->callback([this, command] { options.command = command; });
  return sub;
}

void CommandLine::addModel(CLI::App *sub) {
  bool takesArtifact =
      sub->get_name() == "report" || sub->get_name() == "train";
  sub->add_option("model", options.model,
                  std::string("Hugging Face config.json, its directory") +
                      (takesArtifact ? ", nn .mlir or .tsr" : " or nn .mlir"))
      ->required();
}

void CommandLine::addMeshAlias(CLI::App *sub, MeshAxis axis, const char *name) {
  std::string flag = flagName(name);
  std::string help = "The same as " + std::string(nameOf(axis)) +
                     " in --mesh (default: as there)";
  keep(flag, declare(sub, flag, FlagCheck::Positive, aliases[axis], help),
       Fate::Compiled);
}

/// The options of PlanFlags.def; of a serial program those of its import alone.
void CommandLine::addPlan(CLI::App *sub, Extent extent) {
  PlanOptions &plan = options.plan;
  auto has = [&](Fate fate) {
    return extent == Extent::Plan || fate == Fate::Imported;
  };
#define PLAN_GROUP(TITLE, EXAMPLE) beginGroup(sub, TITLE, EXAMPLE);
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, HELP)                              \
  if (has(Fate::FATE))                                                         \
    keep(flagName(#NAME),                                                      \
         declare(sub, flagName(#NAME), FlagCheck::CHECK, plan.FIELD, HELP),    \
         Fate::FATE);
#define DRIVER_FLAG PLAN_FLAG
#define PLAN_SWITCH(FIELD, NAME, VALUE, HELP)                                  \
  if (has(Fate::Compiled))                                                     \
    keep(flagName(#NAME),                                                      \
         sub->add_flag(flagName(#NAME) + "{" #VALUE "}", plan.FIELD, HELP),    \
         Fate::Compiled);
#define MESH_ALIAS(AXIS, NAME)                                                 \
  if (has(Fate::Compiled))                                                     \
    addMeshAlias(sub, MeshAxis::AXIS, #NAME);
#include "tessera/Options/PlanFlags.def"
}

/// The options that are declared next belong to this group.
void CommandLine::beginGroup(CLI::App *sub, const std::string &title,
                             const std::string &example) {
  sub->option_defaults()->group(title);
  formatter->addExample(sub, title, example);
}

void CommandLine::addData(CLI::App *sub) {
  beginGroup(sub, "Data", "--data corpus.txt --seed 7");
  sub->add_option("--data", options.data,
                  "Files: text (bytes are tokens), .npy, or .bin: uint16 as "
                  "of nanoGPT, or as llm.c or Megatron say")
      ->required()
      ->type_name("FILE");
  sub->add_option("--data-format", options.dataFormat,
                  "Of a file without a header: text, uint16 or uint32; llmc "
                  "demands one")
      ->check(oneOf({"auto", "text", "uint16", "uint32", "llmc"}))
      ->type_name("auto|text|uint16|uint32|llmc")
      ->capture_default_str();
  sub->add_option("--seed", options.seed,
                  "Seed of initial weights, dropout and the order of the data")
      ->capture_default_str();
}

void CommandLine::addCheckpoints(CLI::App *sub) {
  beginGroup(sub, "Checkpoints and weights",
             "--checkpoint-dir runs/one --save-every 100 --resume-if-any");
  sub->add_option("--checkpoint-dir", options.checkpointDir,
                  "Where checkpoints go; one is written at the end")
      ->type_name("DIR");
  declare(sub, "--save-every", FlagCheck::Positive, options.saveEvery,
          "Steps between checkpoints (default: only at the end)");
  declare(sub, "--keep", FlagCheck::Positive, options.keep,
          "Keep the newest checkpoints, so many, and remove older ones after "
          "each save (default: all)");
  declare(sub, "--max-shard-size", FlagCheck::SizeOrZero, options.maxShardBytes,
          "Most bytes of weights in a file of a checkpoint, e.g. 5GB; larger "
          "models are several files with an index (default: 0, one file)");
  resume = sub->add_option("--resume", options.resumeDir,
                           "Continue from the newest checkpoint of a directory "
                           "(default: --checkpoint-dir)")
               ->expected(0, 1)
               ->type_name("DIR");
  sub->add_flag(
         "--resume-if-any", options.resumesIfAny,
         "As --resume if --checkpoint-dir holds a checkpoint; else start "
         "anew: the same command first and later")
      ->excludes(resume);
  sub->add_option("--load-weights", options.weights,
                  "Start from weights as transformers saves them: "
                  "model.safetensors, its index, or their directory; not with "
                  "--resume")
      ->excludes(resume)
      ->type_name("PATH");
  beginGroup(sub, "Signing", "--trusted-key key.pub.pem");
  sub->add_option("--trusted-key", options.trustedKeys,
                  "File with a public key: the .tsr must be signed by it, or "
                  "by one of several (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

/// Whether a run is one process or several.
void CommandLine::addLaunch(CLI::App *sub) {
  beginGroup(sub, "Several processes", "--communicator tcp --secret-file key");
  sub->add_option(
         "--communicator", options.communicator,
         "threads: ranks of one process; tcp: a process per rank; nccl: "
         "a GPU per rank (default: threads; of processes tcp or nccl)")
      ->check(oneOf({"threads", "nccl", "tcp"}))
      ->type_name("threads|nccl|tcp");
  declare(sub, "--timeout-ms", FlagCheck::Positive, options.timeoutMs,
          "Time after which a collective fails (default: 60000)");
  declare(sub, "--save-timeout-ms", FlagCheck::Positive, options.saveTimeoutMs,
          "Time to wait for a process that saves or loads (default: 1800000)");
  sub->add_option("--rendezvous", rendezvous,
                  "Where rank 0 of several processes listens (default: "
                  "MASTER_ADDR and MASTER_PORT + 1)")
      ->type_name("HOST:PORT");
  sub->add_option("--secret-file", secretFile,
                  "File with what all processes know and nobody else, at least "
                  "16 bytes (default: TESSERA_SECRET)")
      ->type_name("FILE");
  sub->add_flag("--trust-network", options.trustsNetwork,
                "Without a secret take processes of other machines, too");
  declare(sub, "--rendezvous-timeout-ms", FlagCheck::Positive,
          options.rendezvousTimeoutMs,
          "Time to wait for all processes (default: 300000)");
}

/// What a run has besides its plan.
void CommandLine::addTraining(CLI::App *sub) {
  addCheckpoints(sub);
  addLaunch(sub);
  sub->option_defaults()->group("Device");
  declare(sub, "--threads", FlagCheck::Positive, options.threads,
          "Threads of all ranks together (default: all cores)");
  beginGroup(sub, "Output", "--log steps.jsonl");
  sub->add_option("--log", options.log, "Write a line of JSON per step")
      ->type_name("FILE");
  sub->add_option("--trace", options.trace,
                  "Record one step after the first two: when each op ran, for "
                  "ui.perfetto.dev")
      ->type_name("FILE");
}

void CommandLine::addOutput(CLI::App *sub, const std::string &extension,
                            const char *what) {
  beginGroup(sub, "Output", "-o out." + extension);
  sub->add_option("-o,--output", options.output, what)->type_name("FILE");
}

CommandLine::CommandLine(DriverOptions &options) : options(options) {
  app.require_subcommand(1);
  app.formatter(formatter);
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return "error: " + messageOf(error) + "\n";
  });
  app.set_version_flag("--version", "tessera " TESSERA_VERSION)
      ->description("Print the version");
  declareCommands();
}

/// The most ranks are a matter of the mesh.
void CommandLine::addRanks(CLI::App *sub) {
  sub->option_defaults()->group("Parallelism");
  declare(sub, "--ranks", FlagCheck::Positive, options.ranks,
          "The most ranks that the mesh may have (default: no limit; of a run "
          "256)");
}

void CommandLine::addJson(CLI::App *sub) {
  beginGroup(sub, "Output", "--json");
  sub->add_flag("--json", options.json, "Print JSON instead of text");
}

void CommandLine::addReport(CLI::App *sub) {
  beginGroup(sub, "Output", "--wide --schedule-svg schedule.svg");
  sub->add_flag("--wide", options.wide,
                "All columns, whatever the width of the terminal");
  sub->add_option("--schedule-svg", options.scheduleSvg,
                  "Draw the schedule of pipeline stages into this file")
      ->type_name("FILE");
}

void CommandLine::addSigning(CLI::App *sub) {
  sub->add_option("artifact", options.model, "The .tsr file")->required();
  beginGroup(sub, "Signing", "--key key.pem");
  sub->add_option("--key", options.key,
                  "File with an Ed25519 private key, as openssl genpkey "
                  "writes it")
      ->required()
      ->type_name("FILE");
}

void CommandLine::declareCommands() {
  CLI::App *doctor =
      command(Command::Doctor, "doctor",
              "What is installed, what works, what is missing", "");
  CLI::App *import = command(Command::Import, "import",
                             "Import a model as a serial nn program",
                             " examples/gpt2-tiny -o model.mlir");
  CLI::App *compile =
      command(Command::Compile, "compile", "Compile a model into a .tsr file",
              " examples/gpt2-tiny --mesh dp=2,tp=2 -o model.tsr");
  CLI::App *sign = command(Command::Sign, "sign",
                           "Sign a .tsr file, for --trusted-key of train",
                           " model.tsr --key key.pem -o signed.tsr");
  CLI::App *report =
      command(Command::Report, "report",
              "Parameters, flops, memory and communication, before any run",
              " examples/gpt2-tiny --mesh dp=2,tp=2");
  CLI::App *verify =
      command(Command::Verify, "verify",
              "Check that the distributed program is the serial one",
              " examples/gpt2-tiny --mesh dp=2,tp=2");
  train = command(Command::Train, "train", "Train a model",
                  " examples/gpt2-tiny --mesh dp=2,tp=2 --data README.md");
  addData(train);
  for (CLI::App *sub : {import, compile, report, verify, train}) {
    addModel(sub);
    addPlan(sub, sub == import ? Extent::Import : Extent::Plan);
  }
  // Of a serial program nothing else of that group can be said.
  formatter->addExample(import, "Precision and memory", "--precision f64");
  for (CLI::App *sub : {compile, report, verify, train})
    addRanks(sub);
  addSigning(sign);
  addTraining(train);
  addOutput(import, "mlir", "Output file (default: standard output)");
  addOutput(compile, "tsr", "Output file (default: model.tsr)");
  addOutput(sign, "tsr", "Output file (default: the .tsr file itself)");
  addReport(report);
  for (CLI::App *sub : {doctor, report, verify})
    addJson(sub);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool CommandLine::isGiven(const std::string &name) const {
  for (const Flag &flag : flags)
    if (flag.name == name && flag.option->count())
      return true;
  return false;
}

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

/// The innermost axis of the aliases comes first: each goes outside of those
/// that are there.
void CommandLine::checkMesh() {
  for (auto alias = aliases.rbegin(); alias != aliases.rend(); ++alias)
    if (alias->second)
      refuseUnless(options.plan.mesh.add(alias->first, alias->second));
  int64_t ranks = options.plan.mesh.ranks();
  if (options.ranks && ranks > options.ranks)
    refuse("mesh " + options.plan.mesh.str() + " has " + std::to_string(ranks) +
           " ranks, but --ranks allows " + std::to_string(options.ranks) +
           "; use a smaller mesh or raise --ranks");
}

/// Chooses the schedule where none is given.
void CommandLine::checkStages() {
  StageOptions &stages = options.plan.stages;
  if (!isGiven("--schedule") && stages.virtualStages > 1)
    stages.schedule = ScheduleKind::Interleaved;
  if (options.plan.mesh.sizeOf(MeshAxis::Pipeline) > 1)
    return;
  for (const char *name : {"--schedule", "--virtual-stages", "--stages"})
    if (isGiven(name))
      refuse(std::string(name) +
             " is about pipeline stages, but the mesh has none; give it an "
             "axis pp, e.g. pp=2");
}

/// Only a run is done by several processes.
void CommandLine::checkLaunch() {
  if (options.command != Command::Train)
    return;
  Launch &launch = options.launch;
  refuseUnless(readLaunch(std::getenv, launch));
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

/// A file's lines end with a line break, which is no part of a secret.
void CommandLine::readSecret() {
  const char *variable = std::getenv("TESSERA_SECRET");
  options.secret = variable ? variable : "";
  if (secretFile.empty())
    return;
  std::ifstream file(secretFile, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  text.resize(text.find_last_not_of("\r\n") + 1);
  if (text.empty())
    refuse("--secret-file: '" + secretFile +
           "' cannot be read or is empty; make one with: openssl rand -hex 32");
  options.secret = text;
}

void CommandLine::checkLearningRate() {
  LearningRateOptions &rate = options.plan.learningRate;
  if (!isGiven("--min-lr"))
    rate.smallest = rate.largest / 10;
  if (rate.smallest > rate.largest)
    refuse("--min-lr is larger than --lr; lower it or raise --lr");
  for (const char *name : {"--lr", "--min-lr", "--warmup-steps", "--steps"})
    options.learningRateGiven |= isGiven(name);
}

void CommandLine::checkCheckpoints() {
  options.resumes = resume->count() > 0;
  if (options.resumes && options.resumeDir.empty())
    options.resumeDir = options.checkpointDir;
  if (options.resumes && options.resumeDir.empty())
    refuse("--resume needs a directory; name one, or give --checkpoint-dir");
  for (const char *name :
       {"--save-every", "--keep", "--max-shard-size", "--resume-if-any"})
    if (train && train->get_option(name)->count() &&
        options.checkpointDir.empty())
      refuse(std::string(name) + " needs --checkpoint-dir");
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
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, HELP)                              \
  texts[flagName(#NAME)] = exactText(FlagCheck::CHECK, plan.FIELD);
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  if (options.isArtifact() && !options.learningRateGiven)
    for (const char *name : {"--lr", "--min-lr", "--warmup-steps"})
      texts[name] = "the artifact's";
  return texts;
}

void CommandLine::collectShared() {
  std::map<std::string, std::string> texts = planTexts();
  for (const CLI::Option *option : train->get_options()) {
    std::string name = option->get_name();
    if (ownOptions.count(name))
      continue;
    auto known = texts.find(name);
    options.shared.emplace_back(name, known == texts.end() ? givenText(*option)
                                                           : known->second);
  }
}

void CommandLine::check() {
  if (isGiven("--gemm-epilogues") && !options.plan.device.target.isCuda())
    refuse("--gemm-epilogues needs --device cuda; on the CPU kernels do it");
  checkMesh();
  checkStages();
  refuseUnless(checkPlan(options.plan));
  checkLaunch();
  checkCheckpoints();
  checkLearningRate();
  checkArtifact();
  checkTrust();
  if (options.command == Command::Train)
    collectShared();
}

ParseResult CommandLine::parse(int argc, char **argv) {
  if (argc == 2 && argv[1] == std::string("--help-markdown")) {
    std::cout << helpAsMarkdown(app, *formatter);
    return {};
  }
  if (argc == 3 && argv[1] == std::string("--help-files")) {
    std::string why = writeHelpFiles(argv[2], commandTable(app));
    if (!why.empty())
      std::cerr << "error: " << why << "\n";
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
    std::cerr << "error: " << message << "\n";
    return {false, 1, message};
  } catch (const CLI::ParseError &error) {
    bool isError = app.exit(error) != 0;
    return {false, isError, isError ? messageOf(error) : ""};
  }
}

} // namespace

ParseResult tessera::parseCommandLine(int argc, char **argv,
                                      DriverOptions &options) {
  return CommandLine(options).parse(argc, argv);
}

bool tessera::asksForJson(int argc, char **argv, const std::string &command) {
  return argc > 1 && argv[1] == command &&
         std::find(argv + 2, argv + argc, std::string("--json")) != argv + argc;
}
