//===- DeclaredOptions.cpp - the options of every subcommand --------------===//
// An option of the plan is a row of PlanFlags.def; all others are declared
// here, by group. declareCommands says which command has which.
//===----------------------------------------------------------------------===//

#include "tools/tessera/options/DeclaredOptions.h"
#include "tools/tessera/options/TypedOptions.h"
#include <functional>
#include <set>

using namespace tessera;

void tessera::refuse(const std::string &message) {
  throw CLI::ValidationError("error", message);
}

void tessera::refuseUnless(const std::string &why) {
  if (!why.empty())
    refuse(why);
}

std::string tessera::givenText(const CLI::Option &option) {
  return option.count() ? CLI::detail::join(option.results(), ",")
                        : option.get_default_str();
}

namespace {

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

} // namespace

//===----------------------------------------------------------------------===//
// Options by group
//===----------------------------------------------------------------------===//

CLI::App *DeclaredOptions::command(Command command, const char *name,
                                   const char *what, const char *example) {
  CLI::App *sub = app.add_subcommand(name, what);
  sub->footer("tessera " + std::string(name) + example);
  sub->callback([this, command] { options.command = command; });
  return sub;
}

void DeclaredOptions::addModel(CLI::App *sub) {
  static const std::set<std::string> takers = {
      "report", "simulate", "train", "evaluate", "generate", "encode"};
  bool takesArtifact = takers.count(sub->get_name()) != 0;
  sub->add_option("model", options.model,
                  std::string("Hugging Face config.json, its directory") +
                      (takesArtifact ? ", nn .mlir or .tsr" : " or nn .mlir"))
      ->required();
}

void DeclaredOptions::addMeshAlias(CLI::App *sub, MeshAxis axis,
                                   const char *name) {
  std::string flag = flagName(name);
  std::string help = "The same as " + std::string(nameOf(axis)) +
                     " in --mesh (default: as there)";
  aliasNames[axis] = flag;
  keep(flag, declare(sub, flag, FlagCheck::Positive, aliases[axis], help),
       FlagCheck::Positive, Fate::Compiled);
}

/// The options of PlanFlags.def; of a serial program those of its import alone.
void DeclaredOptions::addPlan(CLI::App *sub, Extent extent) {
  PlanOptions &plan = options.plan;
  auto has = [&](Fate fate) {
    return extent == Extent::Plan || fate == Fate::Imported;
  };
#define PLAN_GROUP(TITLE, EXAMPLE) beginGroup(sub, TITLE, EXAMPLE);
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (has(Fate::FATE))                                                         \
    keep(flagName(#NAME),                                                      \
         declare(sub, flagName(#NAME), FlagCheck::CHECK, plan.FIELD, HELP),    \
         FlagCheck::CHECK, Fate::FATE);
#define DRIVER_FLAG PLAN_FLAG
#define PLAN_SWITCH(FIELD, NAME, VALUE, PURPOSE, HELP)                         \
  if (has(Fate::Compiled))                                                     \
    keep(flagName(#NAME),                                                      \
         declareSwitch(sub, flagName(#NAME), #VALUE, plan.FIELD, HELP),        \
         FlagCheck::NotNegative, Fate::Compiled);
#define MESH_ALIAS(AXIS, NAME)                                                 \
  if (has(Fate::Compiled))                                                     \
    addMeshAlias(sub, MeshAxis::AXIS, #NAME);
#include "tessera/Options/PlanFlags.def"
}

/// A file with values of the options of PlanFlags.def.
void DeclaredOptions::addPlanFile(CLI::App *sub) {
  sub->option_defaults()->group("Parallelism");
  sub->add_option("--plan", options.planFile,
                  "Take options from a file of tessera plan; options that are "
                  "given as well must say the same")
      ->type_name("FILE");
}

/// The options that are declared next belong to this group.
void DeclaredOptions::beginGroup(CLI::App *sub, const std::string &title,
                                 const std::string &example) {
  sub->option_defaults()->group(title);
  formatter->addExample(sub, title, example);
}

void DeclaredOptions::addData(CLI::App *sub) {
  beginGroup(sub, "Data", "--data books.bin:0.7 web.bin:0.3 --seed 7");
  sub->add_option("--data", options.data,
                  "Files: text (bytes are tokens), .npy, .bin: uint16 as "
                  "of nanoGPT or as llm.c says, or Megatron's .bin or .idx; "
                  "joined, or mixed by weights")
      ->required()
      ->type_name("FILE[:WEIGHT]");
  sub->add_option("--data-format", options.dataFormat,
                  "Of a file without a header: text, uint16 or uint32; llmc "
                  "demands one")
      ->check(oneOf({"auto", "text", "uint16", "uint32", "llmc"}))
      ->type_name("auto|text|uint16|uint32|llmc")
      ->capture_default_str();
  declare(sub, "--validation-fraction", FlagCheck::BelowOne,
          options.validationFraction,
          "Hold out this much of each file, from its end, to evaluate on; "
          "training reads the rest");
  declare(sub, "--seed", FlagCheck::Any, options.seed,
          "Seed of initial weights, dropout and the order of the data");
}

void DeclaredOptions::addCheckpoints(CLI::App *sub) {
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
  sub->add_flag("--change-data", options.changesData,
                "Go on with other data than the checkpoint was trained on, "
                "which is otherwise an error");
  sub->add_option("--load-weights", options.weights,
                  "Start from weights as transformers saves them: "
                  "model.safetensors, its index, or their directory; not with "
                  "--resume")
      ->excludes(resume)
      ->type_name("PATH");
  addAdapter(sub)->excludes(resume);
  sub->add_flag("--random-weights", options.randomWeights,
                "Start from random parameters, also with --lora or --freeze, "
                "or with weights beside the model")
      ->excludes(resume)
      ->excludes(sub->get_option("--load-weights"));
}

/// An adapter fits the weights that it was trained beside.
CLI::Option *DeclaredOptions::addAdapter(CLI::App *sub) {
  return sub
      ->add_option("--load-adapter", options.adapter,
                   "With --lora and --load-weights: start from this adapter, "
                   "as peft saves it: a directory with "
                   "adapter_model.safetensors and adapter_config.json")
      ->needs(sub->get_option("--load-weights"))
      ->type_name("DIR");
}

/// Whether a run is one process or several.
void DeclaredOptions::addLaunch(CLI::App *sub) {
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
                  "16 bytes (default: TESSERA_SECRET; for processes of one "
                  "machine a secret of the user)")
      ->type_name("FILE");
  sub->add_flag("--trust-network", options.trustsNetwork,
                "Without a secret take processes of other machines, too");
  sub->add_flag("--allow-mixed-cpus", options.allowsMixedCpus,
                "Let each process take its own processor's best code: ranks "
                "then round differently, and replicated values drift apart");
  declare(sub, "--rendezvous-timeout-ms", FlagCheck::Positive,
          options.rendezvousTimeoutMs,
          "Time to wait for all processes (default: 300000)");
}

void DeclaredOptions::addTrust(CLI::App *sub) {
  beginGroup(sub, "Signing", "--trusted-key key.pub.pem");
  sub->add_option("--trusted-key", options.trustedKeys,
                  "File with a public key: the .tsr must be signed by it, or "
                  "by one of several (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void DeclaredOptions::addThreads(CLI::App *sub) {
  sub->option_defaults()->group("Device");
  declare(sub, "--threads", FlagCheck::Positive, options.threads,
          "Threads of all ranks together, also of ranks in several "
          "processes; changes no bit of a result (default: all cores)");
}

void DeclaredOptions::addModelWeights(CLI::App *sub) {
  beginGroup(sub, "Weights", "--load-weights path/to/model");
  sub->add_option("--load-weights", options.weights,
                  "Weights as transformers saves them, or a step of a "
                  "checkpoint (default: the model's)")
      ->type_name("PATH");
  sub->add_option("--checkpoint", options.checkpoint,
                  "A checkpoint of tessera train, or a directory, of which the "
                  "newest counts")
      ->excludes(sub->get_option("--load-weights"))
      ->type_name("DIR");
  addTrust(sub);
  addThreads(sub);
}

void DeclaredOptions::addEvalOptions(CLI::App *sub) {
  declare(sub, "--eval-batches", FlagCheck::Positive, options.evalBatches,
          "Batches of an evaluation, always the same ones (default: all)");
  sub->add_option("--tokenizer", options.evalTokenizer,
                  "Hugging Face folder with the tokenizer of the data, for "
                  "bits per byte (default: the model's folder, if it has one)")
      ->type_name("DIR");
}

/// Evaluations during a run.
void DeclaredOptions::addEvaluations(CLI::App *sub) {
  beginGroup(sub, "Evaluation",
             "--validation-fraction 0.1 --eval-every 100 --keep-best");
  sub->add_option("--eval-data", options.evalData,
                  "Files to measure the loss on, as --data has them (default: "
                  "what --validation-fraction holds out)")
      ->type_name("FILE");
  declare(sub, "--eval-every", FlagCheck::Positive, options.evalEvery,
          "Steps between evaluations (default: only at the end)");
  addEvalOptions(sub);
  sub->add_flag("--keep-best", options.keepsBest,
                "Keep the checkpoint with the smallest loss of an evaluation, "
                "in the folder best of --checkpoint-dir");
  declare(sub, "--early-stop", FlagCheck::Positive, options.earlyStop,
          "End when so many evaluations in a row are no better than the best "
          "(default: never)");
}

/// Texts during a run.
void DeclaredOptions::addSamples(CLI::App *sub) {
  beginGroup(sub, "Samples",
             "--sample-every 500 --sample-prompt 'Once upon a time'");
  declare(sub, "--sample-every", FlagCheck::Positive, options.sampleEvery,
          "Steps between texts that the model writes, drawn at temperature 1, "
          "of at most 64 tokens each; compiles with --programs train,generate "
          "(default: never)");
  sub->add_option("--sample-prompt", options.samplePrompts,
                  "What such a text begins with (give the option once for "
                  "each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
}

/// What an evaluation has besides the plan.
void DeclaredOptions::addEvaluate(CLI::App *sub) {
  beginGroup(sub, "Weights", "--checkpoint runs/one");
  auto *weights = sub->add_option("--load-weights", options.weights,
                                  "Weights as transformers saves them: "
                                  "model.safetensors, its index, or their "
                                  "directory")
                      ->type_name("PATH");
  sub->add_option("--checkpoint", options.checkpoint,
                  "A checkpoint of tessera train, or a directory, of which the "
                  "newest counts")
      ->excludes(weights)
      ->type_name("DIR");
  addAdapter(sub);
  beginGroup(sub, "Evaluation", "--choices questions.jsonl");
  addEvalOptions(sub);
  sub->add_option("--choices", options.choices,
                  "Instead of --data: questions, a line of JSON each with "
                  "prompt, choices and the number of the answer; how often it "
                  "is the most probable choice")
      ->type_name("FILE");
  addTrust(sub);
  addLaunch(sub);
  addThreads(sub);
}

/// What is continued, and how.
void DeclaredOptions::addGenerate(CLI::App *sub) {
  GenerateOptions &generate = options.generate;
  auto note = [&generate](CLI::Option *option) {
    option->each([&generate, name = option->get_name()](const std::string &) {
      generate.given.push_back(name);
    });
  };
  beginGroup(sub, "Texts", "--prompt 'Once upon a time' --max-new-tokens 64");
  sub->add_option("--prompt", generate.prompts,
                  "A text to continue (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  sub->add_option("--prompt-ids", generate.promptIds,
                  "The same as tokens, with commas between them")
      ->allow_extra_args(false)
      ->delimiter('\0')
      ->type_name("INT,...");
  sub->add_flag("--chat", generate.isChat,
                "Answer the lines of the standard input, one after the other, "
                "with what was said before them; --prompt then begins the "
                "conversation");
  note(declare(sub, "--max-new-tokens", FlagCheck::Positive,
               generate.maxNewTokens,
               "Most tokens that are added to a text (default: those of "
               "generation_config.json, else 128)"));
  sub->add_option("--stop", generate.stops,
                  "End a text before this one (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  sub->add_flag("--ignore-end", generate.ignoresEnd,
                "Go on after tokens that end a text (eos_token_id of "
                "generation_config.json or config.json, else the tokenizer's "
                "eos_token)");
  sub->add_option("--tokenizer", options.tokenize.tokenizer,
                  "Hugging Face folder with tokenizer.json or tokenizer.model "
                  "(default: the model's)")
      ->type_name("DIR");
  beginGroup(sub, "Sampling", "--temperature 0.8 --top-k 40 --seed 7");
  note(declare(
      sub, "--temperature", FlagCheck::Any, generate.temperature,
      "What logits are divided by before a token is drawn; 0: always the "
      "most probable token (default: that of generation_config.json if its "
      "do_sample is true, else 0)"));
  note(declare(
      sub, "--top-k", FlagCheck::NotNegative, generate.topK,
      "Draw from so many most probable tokens; 0: all (default: those of "
      "generation_config.json, else 0)"));
  note(declare(
      sub, "--top-p", FlagCheck::Any, generate.topP,
      "Draw from the most probable tokens that --top-k leaves and that sum "
      "to this; 1: all (default: that of generation_config.json, else 1)"));
  note(
      declare(sub, "--min-p", FlagCheck::Any, generate.minP,
              "Draw from tokens with at least this part of the largest "
              "probability (default: that of generation_config.json, else 0)"));
  note(declare(
      sub, "--repetition-penalty", FlagCheck::Any, generate.repetitionPenalty,
      "What logits of tokens that the text has are divided by, or "
      "multiplied by if they are below 0; 1: nothing (default: that of "
      "generation_config.json, else 1)"));
  declare(sub, "--seed", FlagCheck::Any, options.seed, "Seed of the draws");
  addModelWeights(sub);
  beginGroup(sub, "Output", "--times");
  sub->add_flag("--times", generate.showsTimes,
                "Say how long prompts and tokens took");
  declare(sub, "--log-probabilities", FlagCheck::NotNegative,
          generate.alternatives,
          "With --json: the logarithm of each token's probability, and so many "
          "most probable tokens with theirs")
      ->each([&generate](const std::string &) {
        generate.showsLogProbabilities = true;
      });
}

/// What is encoded, and what of it is said.
void DeclaredOptions::addEncode(CLI::App *sub) {
  EncodeOptions &encode = options.encode;
  beginGroup(sub, "Texts", "--text 'Paris is the [MASK] of France.'");
  sub->add_option("--text", encode.texts,
                  "A text, in which [MASK] stands for a token to predict (give "
                  "the option once for each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  sub->add_option("--text-ids", encode.textIds,
                  "The same as tokens, with commas between them and those that "
                  "the tokenizer adds")
      ->allow_extra_args(false)
      ->delimiter('\0')
      ->type_name("INT,...");
  declare(sub, "--fillings", FlagCheck::Positive, encode.fillings,
          "So many most probable tokens for each mask");
  auto *embed =
      sub->add_flag("--embed", encode.embeds,
                    "Print each text's last hidden states as one vector "
                    "instead, pooled as the model's folder says "
                    "(1_Pooling/config.json), else their mean");
  auto *pooling =
      sub->add_option("--pooling", encode.pooling,
                      "With --embed: pool in this way, whatever the folder "
                      "says, and do nothing after it")
          ->check(oneOf({"cls", "mean", "max", "lasttoken", "mean_sqrt_len",
                         "weightedmean"}))
          ->needs(embed)
          ->type_name("cls|mean|max|lasttoken|mean_sqrt_len|weightedmean");
  sub->add_flag("--normalize", encode.normalizes,
                "With --pooling: scale each vector to length 1")
      ->needs(pooling);
  sub->add_option("--tokenizer", options.tokenize.tokenizer,
                  "Hugging Face folder with tokenizer.json or tokenizer.model "
                  "(default: the model's)")
      ->type_name("DIR");
  addModelWeights(sub);
}

/// What a run has besides its plan.
void DeclaredOptions::addTraining(CLI::App *sub) {
  sub->option_defaults()->group("Optimizer");
  declare(sub, "--max-bad-steps", FlagCheck::NotNegative, options.maxBadSteps,
          "A step whose loss or gradient is not finite is skipped; more than "
          "so many in a row end the run");
  sub->option_defaults()->group("Learning rate");
  declare(sub, "--epochs", FlagCheck::Positive, options.epochs,
          "Instead of --steps: passes over the data, those before --resume "
          "too, rounded up to whole steps; may be a fraction (default: "
          "--steps counts)");
  addEvaluations(sub);
  addSamples(sub);
  addCheckpoints(sub);
  addTrust(sub);
  addLaunch(sub);
  addThreads(sub);
  beginGroup(sub, "Output", "--log steps.jsonl");
  sub->add_option("--log", options.log, "Write a line of JSON per step")
      ->type_name("FILE");
  sub->add_option("--tensorboard", options.tensorboard,
                  "Write the curves of losses, gradient norm, learning rate "
                  "and speed for TensorBoard")
      ->type_name("DIR");
  declare(sub, "--peak-flops", FlagCheck::Positive, options.peakFlops,
          "Flops per second that all devices of the run are capable of, as "
          "tessera doctor measures them: the run says what share it reaches "
          "(default: it does not)");
  sub->add_option("--trace", options.trace,
                  "Record one step after the first two: when each op ran, for "
                  "ui.perfetto.dev")
      ->type_name("FILE");
  addHtml(sub, "Write a page of the run for a browser, and keep it current: "
               "curves, options, memory; it needs no network");
  addCluster(sub, "Show the step of --trace in the page beside the simulated "
                  "one of this cluster, as tessera calibrate describes it");
}

void DeclaredOptions::addOutput(CLI::App *sub, const std::string &extension,
                                const char *what) {
  beginGroup(sub, "Output", "-o out." + extension);
  sub->add_option("-o,--output", options.output, what)->type_name("FILE");
}

/// The most ranks are a matter of the mesh.
void DeclaredOptions::addRanks(CLI::App *sub) {
  sub->option_defaults()->group("Parallelism");
  declare(sub, "--ranks", FlagCheck::Positive, options.ranks,
          "The most ranks that the mesh may have (default: no limit; of a run "
          "256)");
}

void DeclaredOptions::addJson(CLI::App *sub) {
  beginGroup(sub, "Output", "--json");
  sub->add_flag("--json", options.json, "Print JSON instead of text");
}

void DeclaredOptions::addHtml(CLI::App *sub, const char *what) {
  sub->add_option("--html", options.html, what)->type_name("FILE");
}

void DeclaredOptions::addReport(CLI::App *sub) {
  beginGroup(sub, "Output", "--wide --schedule-svg schedule.svg");
  sub->add_flag("--wide", options.wide,
                "All columns, whatever the width of the terminal");
  sub->add_option("--schedule-svg", options.scheduleSvg,
                  "Draw the schedule of pipeline stages into this file")
      ->type_name("FILE");
}

CLI::Option *DeclaredOptions::addCluster(CLI::App *sub, const char *what) {
  return sub->add_option("--cluster", options.cluster, what)->type_name("FILE");
}

void DeclaredOptions::requireCluster(CLI::App *sub) {
  addCluster(sub, "Devices and links, as a file of TOML (docs/Simulation.md)")
      ->required();
}

void DeclaredOptions::addExplore(CLI::App *sub) {
  beginGroup(sub, "Simulation", "--cluster clusters/a100.toml");
  addCluster(sub, "Also simulate each step on these devices and links, a file "
                  "of TOML (docs/Simulation.md)");
  beginGroup(sub, "Output", "--port 8080");
  declare(sub, "--port", FlagCheck::NotNegative, options.explore.port,
          "Where the page is served, on 127.0.0.1 alone; 0: any free port");
  auto *html = sub->add_option("--html", options.html,
                               "Write the page to this file and serve nothing")
                   ->type_name("FILE");
  sub->add_flag("--json", options.json,
                "Print the page's data and serve nothing")
      ->excludes(html);
}

void DeclaredOptions::addPlanning(CLI::App *sub) {
  PlanningOptions &given = options.planning;
  beginGroup(sub, "Search", "--gpus 64 --global-batch 512 --objective cost");
  requireCluster(sub);
  declare(sub, "--gpus", FlagCheck::Positive, given.gpus,
          "Devices to use, of those of the cluster; of CPUs, ranks that share "
          "their cores (default: all, and a rank for each core)");
  sub->add_option("--objective", given.objective,
                  "What to make least: time of a step, memory of a rank, or "
                  "cost: time of all devices, of which there may be fewer")
      ->check(oneOf({"time", "memory", "cost"}))
      ->type_name("time|memory|cost")
      ->capture_default_str();
  declare(sub, "--global-batch", FlagCheck::Positive, options.plan.sizes.batch,
          "The same as --batch (default: as there)")
      ->excludes(sub->get_option("--batch"));
  declare(sub, "--evaluations", FlagCheck::Positive, given.evaluations,
          "Most plans that are compiled whole");
  declare(sub, "--plans", FlagCheck::Positive, given.plans,
          "Plans to print, the best ones; as many are compiled, if they fit");
  declare(sub, "--tokens", FlagCheck::Positive, given.tokens,
          "Also say what time and energy so many tokens take (default: it does "
          "not)");
  sub->add_option("--explain", given.explained,
                  "Search nothing; compare these two plans instead")
      ->expected(2)
      ->type_name("FILE");
}

void DeclaredOptions::addSimulate(CLI::App *sub) {
  beginGroup(sub, "Simulation", "--cluster clusters/a100.toml --trace t.json");
  requireCluster(sub);
  sub->add_option("--trace", options.trace,
                  "Write the simulated step as a trace for Perfetto")
      ->type_name("FILE");
  sub->add_option("--measured", options.simulate.measured,
                  "Compare with this step, which --trace of train recorded; "
                  "--trace then writes both")
      ->type_name("FILE");
}

void DeclaredOptions::addCalibrate(CLI::App *sub) {
  beginGroup(sub, "Calibration", "--name 'two sockets' --quick");
  declare(sub, "--device", FlagCheck::Any, options.calibrate.device,
          "What to measure: the CPUs of this machine or its GPUs");
  sub->add_option("--name", options.calibrate.name,
                  "What the machine is called (default: its processor and "
                  "cores, or its GPUs)")
      ->type_name("NAME");
  sub->add_flag("--quick", options.calibrate.isQuick,
                "Few sizes, within seconds: a first look, not for plans");
}

void DeclaredOptions::addSigning(CLI::App *sub) {
  sub->add_option("artifact", options.model, "The .tsr file")->required();
  beginGroup(sub, "Signing", "--key key.pem");
  sub->add_option("--key", options.key,
                  "File with an Ed25519 private key, as openssl genpkey "
                  "writes it")
      ->required()
      ->type_name("FILE");
}

void DeclaredOptions::addMerging(CLI::App *sub) {
  sub->add_option(
      "model", options.model,
      "Directory with the model's config.json and weights (default: "
      "those that the adapter was trained beside)");
  beginGroup(sub, "Weights", "--adapter runs/one/step-00000300 -o merged");
  sub->add_option("--adapter", options.adapter,
                  "Directory with adapter_model.safetensors and "
                  "adapter_config.json, as peft and tessera train --lora save "
                  "them")
      ->required()
      ->type_name("DIR");
  sub->add_option("-o,--output", options.output,
                  "Directory to write, which must not exist")
      ->required()
      ->type_name("DIR");
}

void DeclaredOptions::addTokenizing(CLI::App *sub) {
  TokenizeOptions &tokenize = options.tokenize;
  sub->add_option("text", tokenize.texts,
                  "Files of text, or of JSON (.jsonl: an object per line; "
                  ".json); -: standard input")
      ->required();
  beginGroup(sub, "Tokenizer", "--tokenizer path/to/model");
  sub->add_option("--tokenizer", tokenize.tokenizer,
                  "Hugging Face folder with tokenizer.json or tokenizer.model, "
                  "or that file")
      ->required()
      ->type_name("DIR");
  sub->add_option("--model", tokenize.model,
                  "config.json, or its directory, whose vocabulary the "
                  "tokenizer must fit")
      ->type_name("PATH");
  sub->add_flag("--special-tokens,!--no-special-tokens", tokenize.addsSpecial,
                "Add the tokens around each document that the tokenizer's "
                "post-processor adds")
      ->default_str("on");
  addDocuments(sub, tokenize);
  beginGroup(sub, "Output", "-o data.bin");
  sub->add_option("--format", tokenize.format,
                  "Raw uint16 or uint32; llmc: with llm.c's header; megatron: "
                  ".bin and .idx; auto: the smaller raw one that fits")
      ->check(oneOf({"auto", "uint16", "uint32", "llmc", "megatron"}))
      ->type_name("auto|uint16|uint32|llmc|megatron")
      ->capture_default_str();
  sub->add_option("-o,--output", options.output, "Output file")
      ->required()
      ->type_name("FILE");
}

void DeclaredOptions::addDocuments(CLI::App *sub, TokenizeOptions &tokenize) {
  beginGroup(sub, "Documents", "--documents line --append-eod");
  sub->add_option("--documents", tokenize.documents,
                  "What a document is: a file, a line, the text of a JSON "
                  "object per line (jsonl), or of each object of a JSON array "
                  "or of objects that follow each other (json); auto: by the "
                  "name, else file")
      ->check(oneOf({"auto", "file", "line", "jsonl", "json"}))
      ->type_name("auto|file|line|jsonl|json")
      ->capture_default_str();
  sub->add_option("--json-key", tokenize.jsonKey, "Where an object's text is")
      ->type_name("NAME")
      ->capture_default_str();
  sub->add_flag("--append-eod", tokenize.appendsEnd,
                "End each document with the tokenizer's eos_token");
  sub->add_option("--eod-token", tokenize.endToken,
                  "End each document with this token instead")
      ->type_name("TOKEN");
  sub->add_flag("--strict", tokenize.isStrict,
                "Refuse empty texts and blank lines, which are else left out "
                "and counted");
}

void DeclaredOptions::declareCommands() {
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
  CLI::App *merge =
      command(Command::Merge, "merge",
              "Add an adapter of LoRA to the weights of its model",
              " path/to/model --adapter runs/one/step-00000300 -o merged");
  CLI::App *report =
      command(Command::Report, "report",
              "Parameters, flops, memory and communication, before any run",
              " examples/gpt2-tiny --mesh dp=2,tp=2");
  CLI::App *simulate = command(Command::Simulate, "simulate",
                               "Predict the time of a step on a cluster",
                               " examples/gpt2-tiny --mesh dp=2,tp=2 --cluster "
                               "clusters/a100.toml");
  CLI::App *calibrate = command(
      Command::Calibrate, "calibrate",
      "Measure this machine, for --cluster of simulate", " -o machine.toml");
  planning = command(Command::Plan, "plan",
                     "Search the mesh and the options of a plan for a cluster",
                     " examples/gpt2-tiny --gpus 8 --global-batch 32 --cluster "
                     "clusters/a100.toml");
  CLI::App *explore =
      command(Command::Explore, "explore",
              "Look at a model in a browser, with another mesh at a click",
              " examples/gpt2-tiny --mesh dp=2,tp=2");
  CLI::App *verify =
      command(Command::Verify, "verify",
              "Check that the distributed program is the serial one",
              " examples/gpt2-tiny --mesh dp=2,tp=2");
  CLI::App *tokenize = command(Command::Tokenize, "tokenize",
                               "Make tokens of text, for --data of train",
                               " README.md --tokenizer path/to/model -o "
                               "data.bin");
  train = command(Command::Train, "train", "Train a model",
                  " examples/gpt2-tiny --mesh dp=2,tp=2 --data README.md");
  evaluate = command(
      Command::Evaluate, "evaluate", "Measure a model's loss on data",
      " examples/gpt2-tiny --load-weights runs/one/step-00000300 --data f.txt");
  CLI::App *generate =
      command(Command::Generate, "generate", "Continue texts with a model",
              " path/to/model --prompt 'Once upon a time' --temperature 0.8");
  CLI::App *encode =
      command(Command::Encode, "encode", "Fill masks in texts, or embed texts",
              " path/to/model --text 'Paris is the [MASK] of France.'");
  addData(train);
  addData(evaluate);
  evaluate->get_option("--data")->type_name("FILE")->required(false);
  for (CLI::App *sub : {import, compile, report, simulate, planning, explore,
                        verify, train, evaluate, generate, encode}) {
    addModel(sub);
    addPlan(sub, sub == import ? Extent::Import : Extent::Plan);
  }
  // Of a serial program nothing else of that group can be said.
  formatter->addExample(import, "Precision and memory", "--precision f64");
  for (CLI::App *sub : {compile, report, simulate, explore, verify, train,
                        evaluate, generate, encode})
    addRanks(sub);
  for (CLI::App *sub : {compile, report, simulate, verify, train, evaluate})
    addPlanFile(sub);
  addSigning(sign);
  addMerging(merge);
  addTokenizing(tokenize);
  addTraining(train);
  addEvaluate(evaluate);
  addGenerate(generate);
  addEncode(encode);
  addOutput(import, "mlir", "Output file (default: standard output)");
  addOutput(compile, "tsr", "Output file (default: model.tsr)");
  addOutput(sign, "tsr", "Output file (default: the .tsr file itself)");
  addOutput(calibrate, "toml", "Output file (default: machine.toml)");
  addCalibrate(calibrate);
  addReport(report);
  addSimulate(simulate);
  addPlanning(planning);
  addExplore(explore);
  addOutput(planning, "json", "Write the best plan to this file, for --plan");
  addThreads(planning);
  for (CLI::App *sub :
       {doctor, report, simulate, planning, verify, evaluate, generate, encode})
    addJson(sub);
  setDefaults(generate, encode);
  for (CLI::App *sub : {report, simulate, planning})
    addHtml(sub, "Also write a page that shows what --json prints, for a "
                 "browser; it needs no network");
}

/// Of an option that a command has a default of its own for.
static void setDefault(CLI::App *sub, const char *name,
                       const std::string &text) {
  CLI::Option *option = sub->get_option(name);
  std::string what = option->get_description();
  option->description(what.substr(0, what.find(" (default")));
  option->default_str(text);
}

void DeclaredOptions::setDefaults(CLI::App *generate, CLI::App *encode) {
  setDefault(generate, "--programs", "generate");
  setDefault(encode, "--programs", "encode");
  setDefault(encode, "--batch", "as many as there are texts, at most 8");
  setDefault(encode, "--seq-length", "the longest text");
  for (const char *name :
       {"--mesh", "--micro-batches", "--sequence-parallel", "--zero",
        "--schedule", "--virtual-stages", "--stages", "--context-parallel",
        "--recompute", "--bucket-size"})
    setDefault(planning, name, "what is best");
  for (const char *name : {"--device", "--precision"})
    setDefault(planning, name, "the cluster's");
  setDefault(planning, "--batch", "none: it must be given");
}

DeclaredOptions::DeclaredOptions(DriverOptions &options) : options(options) {
  app.require_subcommand(1);
  app.formatter(formatter);
  app.set_version_flag("--version", "tessera " TESSERA_VERSION)
      ->description("Print the version");
  declareCommands();
}

bool DeclaredOptions::isGiven(const std::string &name) const {
  for (const Flag &flag : flags)
    if (flag.name == name && flag.option->count())
      return true;
  return false;
}
