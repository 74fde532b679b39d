#include "runtime/session/LearningRate.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <cmath>

namespace tessera {

/// Returns the steps of the decay; one whose length nobody chose takes what the
/// warm-up leaves of it.
int64_t Schedule::decayBegin() const {
  if (kind != RateKind::Wsd)
    return warmupSteps;
  if (decaySteps > 0)
    return totalSteps - decaySteps;
  int64_t tenth = totalSteps / 10 + (totalSteps % 10 != 0);
  return std::max(warmupSteps, totalSteps - tenth);
}

double Schedule::at(int64_t step) const {
  auto number = static_cast<double>(step) + 1;
  if (step < warmupSteps)
    return lr * number / static_cast<double>(warmupSteps);
  if (kind == RateKind::Constant)
    return lr;
  if (kind == RateKind::InverseSqrt) {
    auto peak = static_cast<double>(std::max<int64_t>(warmupSteps, 1));
    return std::max(minLr, lr * std::sqrt(peak / number));
  }
  if (step >= totalSteps)
    return minLr;
  int64_t begin = decayBegin();
  if (step < begin)
    return lr;
  constexpr double pi = 3.14159265358979323846;
  double progress = static_cast<double>(step - begin) /
                    static_cast<double>(totalSteps - begin);
  double share = kind == RateKind::Cosine ? 0.5 * (1 + std::cos(pi * progress))
                                          : 1 - progress;
  return minLr + share * (lr - minLr);
}

Schedule scheduleOf(const Optimizer &optimizer) {
  return {optimizer.lr,         optimizer.minLr,    optimizer.warmupSteps,
          optimizer.totalSteps, optimizer.schedule, optimizer.decaySteps};
}

static void checkDecay(const Schedule &schedule) {
  if (schedule.decaySteps == 0)
    return;
  if (schedule.decaySteps < 0)
    fail(TSR_INVALID_ARGUMENT, "the schedule's decay_steps is ",
         schedule.decaySteps, ", must not be negative");
  if (schedule.kind != RateKind::Wsd)
    fail(TSR_INVALID_ARGUMENT, "the schedule has decay_steps ",
         schedule.decaySteps,
         ", which only kind 'wsd' has; set kind to \"wsd\", or decay_steps to "
         "0");
  if (schedule.decaySteps > schedule.totalSteps - schedule.warmupSteps)
    fail(TSR_INVALID_ARGUMENT, "the schedule has ", schedule.warmupSteps,
         " warm-up steps and ", schedule.decaySteps, " of decay, but only ",
         schedule.totalSteps,
         " in all; lower decay_steps or raise total_steps");
}

void checkSchedule(const Schedule &schedule) {
  if (!std::isfinite(schedule.lr) || schedule.lr < 0)
    fail(TSR_INVALID_ARGUMENT, "the schedule's lr is ", schedule.lr,
         ", must be finite and not negative");
  if (!std::isfinite(schedule.minLr) || schedule.minLr < 0)
    fail(TSR_INVALID_ARGUMENT, "the schedule's min_lr is ", schedule.minLr,
         ", must be finite and not negative");
  if (schedule.warmupSteps < 0 || schedule.totalSteps < 0)
    fail(TSR_INVALID_ARGUMENT, "the schedule has ", schedule.warmupSteps,
         " warm-up steps and ", schedule.totalSteps,
         " in all, neither may be negative");
  checkDecay(schedule);
}

double biasCorrection(double beta, int64_t step) {
  return 1 / (1 - std::pow(beta, static_cast<double>(step) + 1));
}

} // namespace tessera
