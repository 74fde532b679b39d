#include "runtime/session/LearningRate.h"

#include "runtime/support/Status.h"

#include <cmath>

namespace tessera {

double Schedule::at(int64_t step) const {
  if (step < warmupSteps)
    return lr * (static_cast<double>(step) + 1) /
           static_cast<double>(warmupSteps);
  if (step >= totalSteps)
    return minLr;
  constexpr double pi = 3.14159265358979323846;
  double progress = static_cast<double>(step - warmupSteps) /
                    static_cast<double>(totalSteps - warmupSteps);
  return minLr + 0.5 * (1 + std::cos(pi * progress)) * (lr - minLr);
}

Schedule scheduleOf(const Optimizer &optimizer) {
  return {optimizer.lr, optimizer.minLr, optimizer.warmupSteps,
          optimizer.totalSteps};
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
}

double biasCorrection(double beta, int64_t step) {
  return 1 / (1 - std::pow(beta, static_cast<double>(step) + 1));
}

} // namespace tessera
