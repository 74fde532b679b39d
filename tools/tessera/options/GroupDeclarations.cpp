//===- GroupDeclarations.cpp - options that several commands share --------===//

#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/SecretFile.h"
#include <cstdlib>

using namespace tessera;

void tessera::declare(CLI::App &app, DataOptions &options) {
  beginGroup(app, "Data", "--data books.bin:0.7 web.bin:0.3 --seed 7");
  app.add_option("--data", options.data,
                 "Files: text (bytes are tokens), .npy, .bin: uint16 as "
                 "of nanoGPT or as llm.c says, or Megatron's .bin or .idx; "
                 "joined, or mixed by weights")
      ->required()
      ->type_name("FILE[:WEIGHT]");
  app.add_option("--data-format", options.dataFormat,
                 "Of a file without a header: text, uint16 or uint32; llmc "
                 "demands one")
      ->check(oneOf({"auto", "text", "uint16", "uint32", "llmc"}))
      ->type_name("auto|text|uint16|uint32|llmc")
      ->capture_default_str();
  declare(app, "--validation-fraction", FlagCheck::BelowOne,
          options.validationFraction,
          "Hold out this much of each file, from its end, to evaluate on; "
          "training reads the rest");
  declare(app, "--seed", FlagCheck::Any, options.seed,
          "Seed of initial weights, dropout and the order of the data");
}

void tessera::declare(CLI::App &app, EvaluationOptions &options) {
  declare(app, "--eval-batches", FlagCheck::Positive, options.evalBatches,
          "Batches of an evaluation, always the same ones (default: all)");
  app.add_option("--tokenizer", options.evalTokenizer,
                 "Hugging Face folder with the tokenizer of the data, for "
                 "bits per byte (default: the model's folder, if it has one)")
      ->type_name("DIR");
}

void tessera::declare(CLI::App &app, LaunchOptions &options) {
  beginGroup(app, "Several processes", "--communicator tcp --secret-file key");
  app.add_option("--communicator", options.communicator,
                 "threads: ranks of one process; tcp, or mpi under mpirun: a "
                 "process per rank; nccl: a GPU per rank (default: threads; of "
                 "processes nccl, mpi if it has a plug-in, or tcp)")
      ->check(oneOf({"threads", "nccl", "tcp", "mpi"}))
      ->type_name("threads|nccl|tcp|mpi");
  declare(app, "--timeout-ms", FlagCheck::Positive, options.timeoutMs,
          "Time after which a collective fails (default: 60000)");
  declare(app, "--save-timeout-ms", FlagCheck::Positive, options.saveTimeoutMs,
          "Time to wait for a process that saves or loads (default: 1800000)");
  app.add_option("--rendezvous", options.rendezvous,
                 "Where rank 0 of several processes listens (default: "
                 "MASTER_ADDR and MASTER_PORT + 1; without them Slurm's first "
                 "host, or this one if it has all processes)")
      ->type_name("HOST:PORT");
  app.add_option("--secret-file", options.secretFile,
                 "File with what all processes know and nobody else, at least "
                 "16 bytes (default: TESSERA_SECRET; for processes of one "
                 "machine a secret of the user)")
      ->type_name("FILE");
  app.add_flag("--trust-network", options.trustsNetwork,
               "Without a secret take processes of other machines, too");
  app.add_flag("--allow-mixed-cpus", options.allowsMixedCpus,
               "Let each process take its own processor's best code: ranks "
               "then round differently, and replicated values drift apart");
  declare(app, "--rendezvous-timeout-ms", FlagCheck::Positive,
          options.rendezvousTimeoutMs,
          "Time to wait for all processes (default: 300000)");
}

void tessera::declare(CLI::App &app, InferenceOptions &options) {
  beginGroup(app, "Weights", "--load-weights path/to/model");
  CLI::Option *weights =
      app.add_option("--load-weights", options.weights,
                     "Weights as transformers saves them, or a step of a "
                     "checkpoint (default: the model's)")
          ->type_name("PATH");
  declareCheckpoint(app, options.checkpoint)->excludes(weights);
  declareTrust(app, options);
  declareThreads(app, options.threads);
}

void tessera::declareTrust(CLI::App &app, ModelArgument &options) {
  beginGroup(app, "Signing", "--trusted-key key.pub.pem");
  app.add_option("--trusted-key", options.trustedKeys,
                 "File with a public key: the .tsr must be signed by it, or "
                 "by one of several (give the option once for each)")
      ->allow_extra_args(false)
      ->type_name("FILE");
}

void tessera::declareThreads(CLI::App &app, int32_t &threads) {
  beginGroup(app, "Device");
  declare(app, "--threads", FlagCheck::Positive, threads,
          "Threads of all ranks together, also of ranks in several "
          "processes; changes no bit of a result (default: all cores)");
}

CLI::Option *tessera::declareAdapter(CLI::App &app, std::string &adapter) {
  return app
      .add_option("--load-adapter", adapter,
                  "With --lora and --load-weights: start from this adapter, "
                  "as peft saves it: a directory with "
                  "adapter_model.safetensors and adapter_config.json")
      ->needs(app.get_option("--load-weights"))
      ->type_name("DIR");
}

CLI::Option *tessera::declareCheckpoint(CLI::App &app,
                                        std::string &checkpoint) {
  return app
      .add_option("--checkpoint", checkpoint,
                  "A checkpoint of tessera train, or a directory, of which the "
                  "newest counts")
      ->type_name("DIR");
}

CLI::Option *tessera::declareTokenizer(CLI::App &app, std::string &tokenizer) {
  return app
      .add_option("--tokenizer", tokenizer,
                  "Hugging Face folder with tokenizer.json or tokenizer.model "
                  "(default: the model's)")
      ->type_name("DIR");
}

void tessera::declareOutput(CLI::App &app, const std::string &extension,
                            const char *what, std::string &output) {
  beginGroup(app, "Output", "-o out." + extension);
  app.add_option("-o,--output", output, what)->type_name("FILE");
}

void tessera::declareJson(CLI::App &app, bool &json) {
  beginGroup(app, "Output", "--json");
  app.add_flag("--json", json, "Print JSON instead of text");
}

void tessera::declarePage(CLI::App &app, std::string &html) {
  beginGroup(app, "Output");
  app.add_option("--html", html,
                 "Also write a page that shows what --json prints, for a "
                 "browser; it needs no network")
      ->type_name("FILE");
}

CLI::Option *tessera::declareCluster(CLI::App &app, const char *what,
                                     std::string &cluster) {
  return app.add_option("--cluster", cluster, what)->type_name("FILE");
}

void tessera::requireCluster(CLI::App &app, std::string &cluster) {
  declareCluster(
      app, "Devices and links, as a file of TOML (docs/Simulation.md)", cluster)
      ->required();
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

static void readSecret(LaunchOptions &options) {
  const char *variable = std::getenv("TESSERA_SECRET");
  options.secret = variable ? variable : "";
  if (options.secretFile.empty())
    return;
  if (std::string why = readSecretFile(options.secretFile, &options.secret,
                                       &options.secretNote);
      !why.empty())
    refuse("--secret-file: " + why);
}

void tessera::check(LaunchOptions &options) {
  Launch &launch = options.launch;
  refuseUnless(readLaunch(std::getenv, launch));
  if (launch.isAlone()) {
    if (!options.rendezvous.empty() || options.communicator == "tcp" ||
        options.communicator == "mpi")
      refuse("--rendezvous and --communicator tcp or mpi are for several "
             "processes, but this one is alone; start with torchrun, mpirun or "
             "srun, or "
             "set RANK and WORLD_SIZE");
    return;
  }
  if (!options.rendezvous.empty())
    launch.rendezvous = options.rendezvous;
  readSecret(options);
  if (options.communicator == "threads")
    refuse("--communicator threads is for one process, but the environment "
           "says that there are " +
           std::to_string(launch.worldSize) + " (" + launch.sizeName +
           "); start one process, or leave it out");
}

void tessera::requireOneProcess(const CLI::App &app) {
  Launch launch;
  refuseUnless(readLaunch(std::getenv, launch));
  if (!launch.isAlone())
    refuse(app.get_name() + " has all ranks in one process, but " +
           launch.launcher + " has started " +
           std::to_string(launch.worldSize) + " processes (" + launch.sizeName +
           "); start one, without " + launch.launcher);
}
