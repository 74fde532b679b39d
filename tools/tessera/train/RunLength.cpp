//===- RunLength.cpp - how many steps --epochs makes ----------------------===//

#include "tools/tessera/train/RunLength.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/OpenData.h"
#include <algorithm>
#include <cmath>

using namespace tessera;

int64_t tessera::sequencesOfEpochs(double epochs, int64_t sequences) {
  // The product is rounded: 0.1 epochs of 30 sequences are 3, and not 4.
  constexpr double rounding = 1e-12, most = 1e15;
  double exact = epochs * static_cast<double>(sequences);
  double count = std::max(1.0, std::ceil(exact * (1 - rounding)));
  return count <= most ? static_cast<int64_t>(count) : 0;
}

int64_t tessera::stepsOfSequences(int64_t sequences, int64_t batch) {
  return sequences <= 0 ? 0 : (sequences + batch - 1) / batch;
}

bool tessera::useEpochs(TrainOptions &options, const tsr_artifact *artifact) {
  if (options.epochs <= 0)
    return true;
  OpenedData data =
      openTrainingData(options, dataSizesOf(artifact), options.seed);
  if (!data)
    return false;
  options.epochSequences =
      sequencesOfEpochs(options.epochs, tsr_data_sequences(data.get()));
  if (options.epochSequences == 0)
    return !printError("--epochs makes more steps than a run can have; give a "
                       "smaller number");
  options.plan.learningRate.totalSteps =
      stepsOfSequences(options.epochSequences, tsr_artifact_batch(artifact));
  options.givenRate.insert("--steps");
  return true;
}
