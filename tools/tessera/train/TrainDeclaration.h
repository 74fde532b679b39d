//===- TrainDeclaration.h - the options of tessera train --------*- C++ -*-===//
// They stand apart from the command, so that a test can parse them without the
// compiler and the runtime.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_TRAINDECLARATION_H
#define TESSERA_TOOLS_TESSERA_TRAIN_TRAINDECLARATION_H

#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/train/TrainOptions.h"

namespace tessera {

class TrainDeclaration {
public:
  explicit TrainDeclaration(TrainOptions &options) : options(options) {}

  void declare(CLI::App &app);
  /// Checks the options. A run that goes on has the recipe of its checkpoint,
  /// which `readRecipe` reads, except for the options that are given.
  void check(CLI::App &app, RecipeReader readRecipe);

private:
  void declareEvaluations(CLI::App &app);
  void declareSamples(CLI::App &app);
  void declareCheckpoints(CLI::App &app);
  void declareOutput(CLI::App &app);
  void checkSamples();
  void checkCheckpoints(CLI::App &app);
  void checkLength();
  void checkEvaluation(CLI::App &app) const;

  TrainOptions &options;
  PlanGroup plan{options};
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_TRAINDECLARATION_H
