//===- LearningRate.h - learning rate and bias correction of a step -------===//
#ifndef TESSERA_RUNTIME_SESSION_LEARNINGRATE_H
#define TESSERA_RUNTIME_SESSION_LEARNINGRATE_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

struct Schedule {
  double lr, minLr;
  int64_t warmupSteps, totalSteps;
  RateKind kind = RateKind::Cosine;
  int64_t decaySteps = 0; ///< Steps at the end of Wsd; 0: a tenth of all steps.

  /// Returns the rate of step `step`, from 0; it depends on nothing else.
  /// Warm-up: lr (step + 1) / warmupSteps, so its last step has lr. Then:
  ///  * Cosine (Loshchilov, Hutter 2017) and Linear: lr at step warmupSteps,
  ///    minLr at totalSteps and after;
  ///  * Constant: lr;
  ///  * Wsd (Hu et al. 2024, MiniCPM): lr, and linear in the last decaySteps
  ///    before totalSteps, from where on it is minLr;
  ///  * InverseSqrt (Vaswani et al. 2017, section 5.3, and fairseq's factor):
  ///    lr sqrt(warmupSteps / (step + 1)), but at least minLr. Without warm-up
  ///    as with one step of it.
  double at(int64_t step) const;

private:
  /// Returns the step at which the decay to minLr begins.
  int64_t decayBegin() const;
};

Schedule scheduleOf(const Optimizer &optimizer);
/// Fails with TSR_INVALID_ARGUMENT if a rate is negative or not finite, a count
/// negative, or a decay given that its kind does not have or its steps have no
/// room for.
void checkSchedule(const Schedule &schedule);
/// Returns 1 / (1 - beta^(step + 1)) (Kingma, Ba 2015).
double biasCorrection(double beta, int64_t step);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_LEARNINGRATE_H
