//===- DriverOptions.h - what the command line says -------------*- C++ -*-===//
// Plain data between the parser of the command line, which knows no MLIR, and
// the commands, which know no parser. 0 and "" mean: not given.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_DRIVEROPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_DRIVEROPTIONS_H

#include "tools/tessera/options/CommandTable.h"
#include "tools/tessera/train/TrainOptions.h"
#include <map>

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

/// The options of all commands that have none of their own yet.
struct DriverOptions : TrainOptions {
  Command command = Command::Doctor;
  std::string output; ///< -o; "" or "-": standard output.
  bool json = false;
  bool wide = false;       ///< report: all columns.
  std::string scheduleSvg; ///< report: a file for the picture.
  std::string key;         ///< sign: a file with the private key.

  TokenizeOptions tokenize;
  GenerateOptions generate;
  EncodeOptions encode;
  SimulateOptions simulate;
  CalibrateOptions calibrate;
  PlanningOptions planning;
  ExploreOptions explore;

  /// The first option given that a compiled artifact has fixed.
  std::string fixedByArtifact;
  std::string choices;    ///< Questions to evaluate on, instead of data.
  std::string checkpoint; ///< evaluate, generate, encode: a directory.

  /// Whether a run is an evaluation or training.
  bool isRun() const {
    return command == Command::Train || command == Command::Evaluate;
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
