//===- LearningRate.h - learning rate and bias correction of a step -------===//
#ifndef TESSERA_RUNTIME_SESSION_LEARNINGRATE_H
#define TESSERA_RUNTIME_SESSION_LEARNINGRATE_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

struct Schedule {
  double lr, minLr;
  int64_t warmupSteps, totalSteps;

  /// Of step `step`, from 0. Warm-up: lr (step + 1) / warmupSteps, so its last
  /// step has lr. Then cosine (Loshchilov, Hutter 2017): lr at step
  /// warmupSteps, minLr at totalSteps and after.
  double at(int64_t step) const;
};

Schedule scheduleOf(const Optimizer &optimizer);
/// TSR_INVALID_ARGUMENT if a rate is negative or not finite, or a count
/// negative.
void checkSchedule(const Schedule &schedule);
/// 1 / (1 - beta^(step + 1)) (Kingma, Ba 2015).
double biasCorrection(double beta, int64_t step);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_LEARNINGRATE_H
