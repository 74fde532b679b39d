//===- RunLength.cpp - how many steps --epochs makes ----------------------===//

#include "tools/tessera/train/RunLength.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/OpenData.h"
#include <algorithm>
#include <cmath>

using namespace tessera;

int64_t tessera::stepsOfEpochs(double epochs, int64_t sequences,
                               int64_t batch) {
  // The product and the quotient are rounded once each: 0.1 epochs of 30
  // sequences are 3, and not a step more.
  constexpr double rounding = 1e-12, most = 1e15;
  double exact =
      epochs * static_cast<double>(sequences) / static_cast<double>(batch);
  double steps = std::max(1.0, std::ceil(exact * (1 - rounding)));
  return steps <= most ? static_cast<int64_t>(steps) : 0;
}

bool tessera::useEpochs(DriverOptions &options, const tsr_artifact *artifact) {
  if (options.epochs <= 0)
    return true;
  OpenedData data =
      openTrainingData(options, dataSizesOf(artifact), options.seed);
  if (!data)
    return false;
  int64_t steps = stepsOfEpochs(options.epochs, tsr_data_sequences(data.get()),
                                tsr_artifact_batch(artifact));
  if (steps == 0)
    return !printError("--epochs makes more steps than a run can have; give a "
                       "smaller number");
  options.plan.learningRate.totalSteps = steps;
  options.givenRate.insert("--steps");
  return true;
}
