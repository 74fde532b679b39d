//===- TrainOptions.h - what a run of training is asked for -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_TRAINOPTIONS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_TRAINOPTIONS_H

#include "tessera/Options/RateOptions.h"
#include "tools/tessera/options/OptionGroups.h"
#include <map>
#include <optional>

namespace tessera {

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

/// The options of tessera train. 0 and "" mean: not given.
struct TrainOptions : RunSettings {
  /// Options that are given, and their texts; with the model.
  std::vector<std::pair<std::string, std::string>> given;
  RunRecipe recipe;
  GivenFlags givenRate;       ///< The rest of the learning rate is as compiled.
  bool changesData = false;   ///< It is unlike that of the run that is resumed.
  double epochs = 0;          ///< They replace --steps.
  int64_t epochSequences = 0; ///< In these epochs, once data is open.
  int64_t maxBadSteps = 0;    ///< In a row, skipped, before the run ends.
  double peakFlops = 0;       ///< Per second, of all devices of the run.

  std::string checkpointDir, resumeDir;
  bool resumes = false, resumesIfAny = false;
  bool randomWeights = false; ///< They are meant to be random.
  int64_t saveEvery = 0;
  int64_t keep = 0; ///< Checkpoints; 0: all.

  int64_t evalEvery = 0; ///< Steps.
  bool keepsBest = false;
  int64_t earlyStop = 0;   ///< Evaluations that are no better; 0: never.
  int64_t sampleEvery = 0; ///< Steps; 0: never.
  std::vector<std::string> samplePrompts; ///< Continued during a run.

  std::string log, trace, tensorboard;
  std::string html;    ///< A file for the page of the run.
  std::string cluster; ///< A file: the traced step is compared with it.

  /// Returns whether a run is measured on data that it is not trained on.
  bool hasEvaluationData() const {
    return !evalData.empty() || validationFraction > 0;
  }
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_TRAINOPTIONS_H
