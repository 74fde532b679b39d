//===- CommandLine.cpp - the command line of every subcommand -------------===//

#include "tessera/Options/MeshAxis.h"
#include "tools/tessera/options/LaunchOptions.h"
#include "tools/tessera/options/MemorySize.h"
#include "tools/tessera/options/Mesh.h"
#include "tools/tessera/options/NumberChecks.h"
#include "tools/tessera/options/Options.h"
#include "tools/tessera/options/PipelineFlags.h"
#include "tools/tessera/options/StrategyFlags.h"
#include <CLI/CLI.hpp>

using namespace tessera;

namespace {
/// Declares the options and, after parsing, checks what concerns several.
class CommandLine {
public:
  explicit CommandLine(DriverOptions &options);
  bool parse(int argc, char **argv, int &exitCode);

private:
  CLI::App *command(Command command, const char *name, const char *what);
  void addModel(CLI::App *sub);
  void addSizes(CLI::App *sub);
  void addPlan(CLI::App *sub);
  void addMemory(CLI::App *sub);
  void addCommunication(CLI::App *sub);
  void addOptimizer(CLI::App *sub);
  void addSchedule(CLI::App *sub);
  void addTraining(CLI::App *sub);
  /// An option that a .tsr file has fixed.
  CLI::Option *fixed(CLI::Option *option) {
    fixedOptions.push_back(option);
    return option;
  }
  void checkCommand(const std::string &word);
  void check();
  void checkMesh();
  void checkDevice();
  void checkMemory();

  DriverOptions &options;
  CLI::App app{"Tessera compiles a Transformer into a distributed training "
               "program and runs it",
               "tessera"};
  std::string mesh, rendezvous, device = "cpu", memoryLimit, bucketSize;
  int64_t tensorParallel = 0, dataParallel = 0, pipelineParallel = 0;
  std::vector<CLI::Option *> fixedOptions, pipelineOptions, scheduleOptions,
      minLrOptions, epilogueOptions;
  CLI::Option *resume = nullptr;
};

[[noreturn]] void refuse(const std::string &message) {
  throw CLI::ValidationError("error", message);
}

CLI::App *CommandLine::command(Command command, const char *name,
                               const char *what) {
  CLI::App *sub = app.add_subcommand(name, what);
  sub->callback([this, command] { options.command = command; });
  return sub;
}

void CommandLine::addModel(CLI::App *sub) {
  sub->add_option("model", options.model,
                  "Hugging Face config.json, its directory, nn .mlir or .tsr")
      ->required();
}

void CommandLine::addSizes(CLI::App *sub) {
  sub->option_defaults()->group("Sizes");
  auto count = [&](const char *name, int64_t &value, const char *what) {
    fixed(sub->add_option(name, value, what))->check(positive());
  };
  count("--seq-length", options.sequence,
        "Tokens of a sequence (default: n_positions)");
  count("--decoder-seq-length", options.targetSequence,
        "Tokens of a target of T5 (default: of a sequence)");
  count("--batch", options.batch,
        "Sequences of a step, over all ranks and micro-batches (default: 8)");
  count("--micro-batches", options.microBatches,
        "Parts that a batch is cut into (default: 1)");
  fixed(sub->add_option("--precision", options.precision,
                        "f32; bf16: bf16 storage and products, f32 elsewhere; "
                        "f64 (slow, to compare with)"))
      ->check(CLI::IsMember({"f32", "bf16", "f64"}))
      ->capture_default_str();
}

void CommandLine::addPlan(CLI::App *sub) {
  sub->option_defaults()->group("Plan");
  fixed(sub->add_option("--mesh", mesh,
                        "Axes and sizes, e.g. dp=2,tp=4 (default: one rank)"));
  fixed(sub->add_option("--tensor-model-parallel-size", tensorParallel,
                        "The same as tp in --mesh"))
      ->check(positive());
  fixed(sub->add_option("--data-parallel-size", dataParallel,
                        "The same as dp in --mesh"))
      ->check(positive());
  for (CLI::Option *option : addStrategies(sub, options))
    fixed(option);
  fixed(sub->add_option("--pipeline-model-parallel-size", pipelineParallel,
                        "The same as pp in --mesh"))
      ->check(positive());
  for (CLI::Option *option : addPipelineOptions(sub, options))
    pipelineOptions.push_back(fixed(option));
  sub->add_option("--ranks", options.ranks,
                  "The most ranks that the mesh may have")
      ->check(positive());
  addMemory(sub);
  addCommunication(sub);
  fixed(sub->add_option("--cpu", options.cpu,
                        "CPU to compile for, as LLVM names it"))
      ->capture_default_str();
  sub->add_option("--device", device,
                  "cpu, cuda, or cuda:ARCH for another than cuda:sm_90")
      ->capture_default_str();
  epilogueOptions.push_back(fixed(sub->add_flag(
      "--gemm-epilogues,!--no-gemm-epilogues", options.gemmEpilogues,
      "With cuda: GELU (tanh) and bias gradients are part "
      "of matrix products, or kernels")));
  fixed(sub->add_option("--dump-ir", options.dumpDir,
                        "Write the program after each pass to this directory"));
  fixed(sub->add_option("--reproducer", options.reproducer,
                        "Write the input of a pass that fails to this file "
                        "(default: only of one that crashes, to a temporary "
                        "file)"));
}

void CommandLine::addMemory(CLI::App *sub) {
  fixed(sub->add_option("--recompute", options.recompute,
                        "What backward computes again instead of keeping it: "
                        "none; selective: what is cheap; full: layers; auto: "
                        "the least that fits into --memory-limit"))
      ->check(CLI::IsMember({"none", "selective", "full", "auto"}))
      ->capture_default_str();
  fixed(sub->add_option("--recompute-layers", options.recomputeLayers,
                        "With --recompute full: the first so many layers "
                        "(default: all)"))
      ->check(notNegative());
  fixed(sub->add_option("--memory-limit", memoryLimit,
                        "Most memory of a rank, e.g. 900MiB or 1.5GiB; a plan "
                        "that needs more is an error"));
}

void CommandLine::addCommunication(CLI::App *sub) {
  fixed(sub->add_option("--bucket-size", bucketSize,
                        "Most bytes of gradients that are reduced together; 0: "
                        "each on its own"))
      ->default_str("25MiB");
  fixed(sub->add_flag("--overlap,!--no-overlap", options.overlap,
                      "Communicate while computing: start collectives early "
                      "and wait late, or not"));
}

void CommandLine::addOptimizer(CLI::App *sub) {
  sub->option_defaults()->group("Optimizer");
  auto number = [&](const char *name, double &value, const char *what) {
    fixed(sub->add_option(name, value, what))
        ->check(notNegative())
        ->capture_default_str();
  };
  number("--weight-decay", options.weightDecay,
         "Decoupled decay of matrices and embeddings");
  number("--clip", options.clip, "Largest gradient norm; 0: none");
  for (auto [name, value] : {std::pair{"--beta1", &options.beta1},
                             std::pair{"--beta2", &options.beta2}})
    fixed(sub->add_option(name, *value, "Decay of a moment of the gradient"))
        ->check(CLI::Range(0.0, 0.999999))
        ->capture_default_str();
}

void CommandLine::addSchedule(CLI::App *sub) {
  sub->option_defaults()->group("Schedule");
  auto add = [&](const char *name, auto &value, const char *what) {
    CLI::Option *option = sub->add_option(name, value, what);
    option->check(notNegative());
    scheduleOptions.push_back(option);
    return option;
  };
  add("--lr", options.lr, "Largest learning rate")->capture_default_str();
  minLrOptions.push_back(add("--min-lr", options.minLr,
                             "Learning rate at the end (default: --lr / 10)"));
  add("--warmup-steps", options.warmupSteps, "Steps of linear warm-up")
      ->capture_default_str();
  add("--steps", options.steps, "Optimizer steps, those before --resume too")
      ->check(positive())
      ->capture_default_str();
}

void CommandLine::addTraining(CLI::App *sub) {
  sub->option_defaults()->group("Training");
  sub->add_option("--data", options.data,
                  "Files: text (bytes are tokens), or .bin with uint16 tokens "
                  "as nanoGPT or llm.c write them")
      ->required();
  sub->add_option("--data-format", options.dataFormat,
                  "auto, text, uint16, llmc")
      ->check(CLI::IsMember({"auto", "text", "uint16", "llmc"}))
      ->capture_default_str();
  sub->add_option("--checkpoint-dir", options.checkpointDir,
                  "Where checkpoints go; one is written at the end");
  sub->add_option("--save-every", options.saveEvery,
                  "Steps between checkpoints (default: only at the end)")
      ->check(positive());
  resume = sub->add_option("--resume", options.resumeDir,
                           "Continue from the newest checkpoint of a directory "
                           "(default: --checkpoint-dir)")
               ->expected(0, 1);
  sub->add_option("--load-weights", options.weights,
                  "Start from weights as transformers saves them")
      ->excludes(resume);
  sub->add_option("--trace", options.trace,
                  "Record one step after the first two: when each op ran, for "
                  "ui.perfetto.dev");
  sub->add_option("--log", options.log, "Write a line of JSON per step");
  sub->add_option("--seed", options.seed,
                  "Of initial weights, dropout and the order of the data")
      ->capture_default_str();
  sub->add_option("--threads", options.threads,
                  "Of all ranks together (default: all cores)")
      ->check(positive());
  addLaunchOptions(sub, options, rendezvous, positive());
}

CommandLine::CommandLine(DriverOptions &options) : options(options) {
  app.require_subcommand(1);
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    std::string what = error.what();
    if (!what.empty())
      what[0] = static_cast<char>(std::tolower(what[0]));
    return "error: " + what + "; see --help\n";
  });
  app.set_version_flag("--version", "tessera " TESSERA_VERSION);
  CLI::App *doctor = command(Command::Doctor, "doctor",
                             "What is installed, what works, what is missing");
  CLI::App *import = command(Command::Import, "import",
                             "Import a model as a serial nn program");
  CLI::App *compile =
      command(Command::Compile, "compile", "Compile a model into a .tsr file");
  CLI::App *report =
      command(Command::Report, "report",
              "Parameters, flops, memory and communication, before any run");
  CLI::App *verify =
      command(Command::Verify, "verify",
              "Check that the distributed program is the serial one");
  CLI::App *train = command(Command::Train, "train", "Train a model");
  for (CLI::App *sub : {import, compile, report, verify, train}) {
    addModel(sub);
    addSizes(sub);
  }
  for (CLI::App *sub : {compile, report, verify, train}) {
    addPlan(sub);
    addOptimizer(sub);
    addSchedule(sub);
  }
  addTraining(train);
  for (CLI::App *sub : {import, compile}) {
    sub->option_defaults()->group("Options");
    sub->add_option("-o,--output", options.output,
                    sub == import ? "Output file (default: standard output)"
                                  : "Output file (default: model.tsr)");
  }
  for (CLI::App *sub : {doctor, report, verify}) {
    sub->option_defaults()->group("Options");
    sub->add_flag("--json", options.json, "Print JSON instead of text");
  }
  report->add_option("--schedule-svg", options.scheduleSvg,
                     "Draw the schedule of pipeline stages into this file");
}

/// The parser itself would only say that a subcommand is required.
void CommandLine::checkCommand(const std::string &word) {
  if (word.rfind("-", 0) == 0)
    return;
  std::string names;
  for (const CLI::App *sub : app.get_subcommands({})) {
    if (sub->get_name() == word)
      return;
    names += (names.empty() ? "" : ", ") + sub->get_name();
  }
  refuse("unknown command '" + word + "'; use one of " + names);
}

void CommandLine::checkMesh() {
  Mesh axes;
  std::string why = axes.parse(mesh), given;
  for (auto [axis, size] : {std::pair{kDataAxis, dataParallel},
                            std::pair{kPipelineAxis, pipelineParallel},
                            std::pair{kTensorAxis, tensorParallel}})
    if (why.empty() && size)
      why = axes.add(axis, size);
  if (why.empty())
    why = checkStrategies(options, axes);
  for (const CLI::Option *option : pipelineOptions)
    given = option->count() ? option->get_name() : given;
  if (why.empty())
    why = checkPipeline(options, axes, given);
  if (!why.empty())
    refuse(why);
  options.mesh = axes.str();
  options.meshRanks = axes.ranks();
}

void CommandLine::checkDevice() {
  size_t colon = device.find(':');
  options.device = device.substr(0, colon);
  bool hasArch = colon != std::string::npos;
  if (hasArch)
    options.arch = device.substr(colon + 1);
  bool isCuda = options.device == "cuda" && !options.arch.empty();
  if (!isCuda && (options.device != "cpu" || hasArch))
    refuse("unknown device '" + device + "'; use cpu, cuda or cuda:sm_90");
  for (const CLI::Option *option : epilogueOptions)
    if (option->count() && !isCuda)
      refuse("--gemm-epilogues needs --device cuda; on the CPU kernels do it");
}

void CommandLine::checkMemory() {
  std::optional<int64_t> bytes = parseBytes(memoryLimit);
  if (!memoryLimit.empty() && !bytes)
    refuse("--memory-limit '" + memoryLimit +
           "' is no size; write bytes, or a number with KiB, MiB, GiB or TiB");
  options.memoryLimit = bytes.value_or(0);
  std::optional<int64_t> bucket = parseBytes(bucketSize);
  if (!bucketSize.empty() && !bucket && bucketSize != "0")
    refuse("--bucket-size '" + bucketSize +
           "' is no size; write 0, bytes, or a number with KiB, MiB or GiB");
  if (!bucketSize.empty())
    options.bucketBytes = bucket.value_or(0);
  if (options.recompute == "auto" && !bytes)
    refuse("--recompute auto needs --memory-limit");
  if (options.recomputeLayers >= 0 && options.recompute != "full")
    refuse("--recompute-layers needs --recompute full");
}

void CommandLine::check() {
  checkDevice();
  checkMesh();
  checkMemory();
  if (std::string why = chooseLaunch(options, rendezvous); !why.empty())
    refuse(why);
  for (const CLI::Option *option : fixedOptions)
    if (option->count() && options.fixedByArtifact.empty())
      options.fixedByArtifact = option->get_name();
  for (const CLI::Option *option : scheduleOptions)
    options.scheduleGiven |= option->count() > 0;
  options.resumes = resume->count() > 0;
  if (options.resumes && options.resumeDir.empty())
    options.resumeDir = options.checkpointDir;
  if (options.resumes && options.resumeDir.empty())
    refuse("--resume needs a directory; name one, or give --checkpoint-dir");
  if (options.saveEvery && options.checkpointDir.empty())
    refuse("--save-every needs --checkpoint-dir");
  bool minLrGiven = false;
  for (const CLI::Option *option : minLrOptions)
    minLrGiven |= option->count() > 0;
  if (!minLrGiven)
    options.minLr = options.lr / 10;
  if (options.minLr > options.lr)
    refuse("--min-lr is larger than --lr; lower it or raise --lr");
  if (options.isArtifact() && !options.fixedByArtifact.empty())
    refuse("'" + options.model + "' is compiled already, so " +
           options.fixedByArtifact +
           " cannot change it; give the config.json instead");
}

bool CommandLine::parse(int argc, char **argv, int &exitCode) {
  try {
    if (argc > 1)
      checkCommand(argv[1]);
    app.parse(argc, argv);
    check();
    return true;
  } catch (const CLI::ValidationError &error) {
    std::string message = error.what();
    if (message.rfind("error: ", 0) != 0)
      message = "error: " + message;
    std::cerr << message << "\n";
    exitCode = 1;
  } catch (const CLI::ParseError &error) {
    exitCode = app.exit(error) ? 1 : 0;
  }
  return false;
}

} // namespace

bool tessera::parseCommandLine(int argc, char **argv, DriverOptions &options,
                               int &exitCode) {
  return CommandLine(options).parse(argc, argv, exitCode);
}
