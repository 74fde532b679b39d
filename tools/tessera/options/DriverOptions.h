//===- DriverOptions.h - what the command line says -------------*- C++ -*-===//
// Plain data between the parser of the command line, which knows no MLIR, and
// the commands, which know no parser. 0 and "" mean: not given.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_DRIVEROPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_DRIVEROPTIONS_H

#include "tessera/Options/PlanOptions.h"
#include "tools/tessera/options/CommandTable.h"
#include "tools/tessera/options/LaunchEnvironment.h"
#include "tools/tessera/options/RateOptions.h"
#include <map>
#include <optional>

namespace tessera {

enum class Command {
  Doctor,
  Import,
  Compile,
  Sign,
  Merge,
  Report,
  Simulate,
  Calibrate,
  Plan,
  Explore,
  Verify,
  Tokenize,
  Train,
  Evaluate,
  Generate,
  Encode
};

/// Of tessera tokenize.
struct TokenizeOptions {
  std::vector<std::string> texts; ///< Files; "-": standard input.
  std::string tokenizer;          ///< A folder, or the file in it.
  std::string model;              ///< Whose vocabulary it must fit.
  std::string documents = "auto", jsonKey = "text", format = "auto";
  bool appendsEnd = false;
  bool isStrict = false; ///< Refuses texts and lines that are empty.
  std::string endToken;  ///< "": what the folder says.
  bool addsSpecial = true;
};

/// Of tessera generate.
struct GenerateOptions {
  std::vector<std::string> prompts;
  std::vector<std::string> promptIds; ///< "1,2,3" each.
  std::vector<std::string> stops;     ///< Texts.
  int64_t maxNewTokens = 128;
  double temperature = 0, topP = 1, minP = 0, repetitionPenalty = 1;
  int64_t topK = 0;
  int64_t alternatives = 0;
  bool ignoresEnd = false, showsTimes = false, isChat = false;
  bool showsLogProbabilities = false;
  /// Names of given options whose values the model's files may also say.
  std::vector<std::string> given;
};

/// Of tessera encode.
struct EncodeOptions {
  std::vector<std::string> texts;
  std::vector<std::string> textIds; ///< "1,2,3" each.
  int64_t fillings = 5;             ///< Of a mask.
  bool embeds = false;
  std::string pooling; ///< "": the folder's.
  bool normalizes = false;
};

/// Of tessera simulate.
struct SimulateOptions {
  std::string cluster;  ///< A file.
  std::string measured; ///< A trace of the step as it ran; "": none.
  /// A program that is compiled for it, with a device or precision that is not
  /// given, has the cluster's.
  bool takesDevice = false, takesPrecision = false;
};

/// Of tessera calibrate.
struct CalibrateOptions {
  DeviceKind device = DeviceKind::Cpu; ///< What is measured.
  std::string name;     ///< Of the machine; "": what the system says.
  bool isQuick = false; ///< Few sizes, in a second or two.
};

/// Of tessera plan; the cluster is that of simulate.
struct PlanningOptions {
  int64_t gpus = 0; ///< Devices.
  std::string objective = "time";
  double tokens = 0; ///< Of a whole training; 0: not asked for.
  int64_t evaluations = 60;
  int64_t plans = 10;                 ///< That many are printed.
  std::vector<std::string> explained; ///< Two files.
  /// Options of PlanFlags.def that are not searched, with their texts.
  std::map<std::string, std::string> given;
};

/// Of tessera explore; the cluster, if there is one, is that of simulate.
struct ExploreOptions {
  int32_t port = 0; ///< 0: any free one.
  /// Options of PlanFlags.def that its page may choose, and the texts of those
  /// that were given.
  std::vector<OptionEntry> choices;
  std::map<std::string, std::string> given;
};

/// The options that make a run what it is, as texts.
struct RunRecipe {
  /// The run that goes on was given `given`, and has all `values` in effect.
  std::map<std::string, std::string> given, values;
  std::optional<int64_t> seed;
  /// This run is given `now`, or takes it over from the run that goes on.
  std::map<std::string, std::string> now;
};

/// Reads the recipe of the checkpoint in a directory; false: there is none.
using RecipeReader = bool (*)(const std::string &directory, RunRecipe &recipe);

struct DriverOptions {
  /// A run has a length, unlike a program that is only compiled.
  DriverOptions() {
    plan.learningRate.warmupSteps = 10;
    plan.learningRate.totalSteps = 100;
  }

  Command command = Command::Doctor;
  std::string model;  ///< config.json, directory, .mlir or .tsr.
  std::string output; ///< -o; "" or "-": standard output.
  bool json = false;
  bool wide = false;       ///< report: all columns.
  std::string scheduleSvg; ///< report: a file for the picture.
  std::string html;        ///< A file for the page of what is printed.
  std::string key;         ///< sign: a file with the private key.

  TokenizeOptions tokenize;
  GenerateOptions generate;
  EncodeOptions encode;
  SimulateOptions simulate;
  CalibrateOptions calibrate;
  PlanningOptions planning;
  ExploreOptions explore;

  PlanOptions plan;
  int64_t ranks = 0; ///< The most that a run may start.
  /// The first option given that a compiled artifact has fixed.
  std::string fixedByArtifact;
  /// Options of train that are given, and their texts; with the model.
  std::vector<std::pair<std::string, std::string>> given;
  RunRecipe recipe;     ///< Only train has one.
  GivenFlags givenRate; ///< Of the learning rate; the rest is as compiled.

  // Training.
  std::vector<std::string> data;
  std::vector<double> dataWeights; ///< Of each of `data`, or none.
  double validationFraction = 0;   ///< Of each of `data`, held out.
  bool changesData = false;        ///< Unlike the run that is resumed.
  std::string dataFormat = "auto", communicator;
  std::string checkpointDir, resumeDir, weights, log, trace, tensorboard;
  std::string adapter; ///< A directory; also of merge.
  bool resumes = false, resumesIfAny = false;
  bool randomWeights = false; ///< They are meant to be random.
  double epochs = 0;          ///< In place of --steps; 0: not given.
  int64_t epochSequences = 0; ///< In these epochs, once data is open.
  double peakFlops = 0; ///< Per second, of all devices of the run; 0: unknown.
  Launch launch;        ///< One of several processes, or alone.
  int32_t rendezvousTimeoutMs = 0;
  std::string secret;     ///< The processes share it; "": none.
  std::string secretNote; ///< Says that its file is unsafe; "": it is not.
  bool trustsNetwork = false;
  bool allowsMixedCpus = false;         ///< Processes then do not agree on one.
  std::vector<std::string> trustedKeys; ///< Files with public keys.
  int64_t saveEvery = 0, seed = 0;
  int64_t maxShardBytes = 0; ///< Of a file of saved weights; 0: one file.
  int64_t keep = 0;          ///< Checkpoints; 0: all.
  int64_t maxBadSteps = 0;   ///< In a row, skipped, before the run ends.

  // Evaluation.
  std::vector<std::string> evalData;      ///< train: measured beside the run.
  int64_t evalEvery = 0, evalBatches = 0; ///< Steps; 0: all batches.
  std::string evalTokenizer; ///< Counts bytes; "": that of the model.
  std::string choices;       ///< Questions to evaluate on, instead of data.
  bool keepsBest = false;
  int64_t earlyStop = 0;   ///< Evaluations that are no better; 0: never.
  std::string checkpoint;  ///< evaluate, generate, encode: a directory.
  int64_t sampleEvery = 0; ///< Steps; 0: never.
  std::vector<std::string> samplePrompts; ///< Continued during a run.

  /// Options and their values that all processes of a run must have alike.
  std::vector<std::pair<std::string, std::string>> shared;
  int32_t threads = 0, timeoutMs = 0, saveTimeoutMs = 0;

  /// Returns whether a run is measured on data that it is not trained on.
  bool hasEvaluationData() const {
    return !evalData.empty() || validationFraction > 0;
  }
  /// A run is an evaluation or training.
  bool isRun() const {
    return command == Command::Train || command == Command::Evaluate;
  }
  bool isArtifact() const { return modelEndsWith(".tsr"); }
  /// An nn program, whose sizes are fixed, rather than a config.
  bool isProgram() const {
    return modelEndsWith(".mlir") || modelEndsWith(".mlirbc");
  }

private:
  bool modelEndsWith(const std::string &extension) const {
    return model.size() > extension.size() &&
           model.compare(model.size() - extension.size(), std::string::npos,
                         extension) == 0;
  }
};

struct ParseResult {
  bool goesOn = false;
  int exitCode = 0;  ///< Unless it goes on; help and errors are printed.
  std::string error; ///< Without "error: ".
};

/// Parses and checks. A run that goes on has the recipe of its checkpoint,
/// which `readRecipe` reads, except for the options that are given.
ParseResult parseCommandLine(int argc, char **argv, DriverOptions &options,
                             RecipeReader readRecipe = nullptr);

/// Returns whether the words, which may be wrong, ask a command for JSON.
bool asksForJson(int argc, char **argv, const std::string &command);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_DRIVEROPTIONS_H
