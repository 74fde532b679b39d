//===- RateOptions.cpp - the options of the learning rate -----------------===//

#include "tessera/Options/RateOptions.h"
#include <cstdio>

using namespace tessera;

static std::string text(int64_t steps) { return std::to_string(steps); }

static std::string text(double rate) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", rate);
  return digits;
}

/// Returns the smallest learning rate where --min-lr is not given.
static double smallestOf(const LearningRateOptions &rate) {
  switch (rate.schedule) {
  case LearningRateSchedule::Constant:
    return rate.largest;
  case LearningRateSchedule::InverseSqrt:
    return 0;
  default:
    return rate.largest / 10;
  }
}

static std::string checkSmallest(const LearningRateOptions &rate,
                                 const GivenFlags &given) {
  if (rate.schedule == LearningRateSchedule::Constant &&
      given.count("--min-lr"))
    return given.count("--lr-schedule")
               ? "--min-lr is what the learning rate falls to, but with "
                 "--lr-schedule constant it stays at --lr; leave one of the "
                 "two out"
               : "--min-lr is what the learning rate falls to, but the "
                 "schedule is constant and stays at --lr; leave it out, or "
                 "give another --lr-schedule";
  if (rate.smallest <= rate.largest)
    return "";
  if (given.count("--min-lr"))
    return "--min-lr " + text(rate.smallest) + " is larger than --lr " +
           text(rate.largest) + "; lower the one or raise the other";
  return "--lr " + text(rate.largest) + " is below " + text(rate.smallest) +
         ", to which the learning rate falls as compiled; give --min-lr too";
}

/// A warm-up that nobody asked for may be cut off by a short run.
static std::string checkSteps(const LearningRateOptions &rate,
                              const GivenFlags &given) {
  if (given.count("--warmup-steps") && rate.warmupSteps > rate.totalSteps)
    return "--warmup-steps " + text(rate.warmupSteps) +
           " is more than the run has, --steps " + text(rate.totalSteps) +
           "; lower the one or raise the other";
  if (given.count("--decay-steps") &&
      rate.schedule != LearningRateSchedule::WarmupStableDecay)
    return "--decay-steps is of --lr-schedule wsd, but the schedule is " +
           std::string(nameOf(rate.schedule)) +
           "; leave it out, or add --lr-schedule wsd";
  if (rate.decaySteps == 0 ||
      rate.decaySteps <= rate.totalSteps - rate.warmupSteps)
    return "";
  std::string what = "--decay-steps " + text(rate.decaySteps) +
                     " and --warmup-steps " + text(rate.warmupSteps);
  return given.count("--decay-steps")
             ? what + " are more than the run has, --steps " +
                   text(rate.totalSteps) +
                   "; lower one of the two or raise --steps"
             : "the run has --steps " + text(rate.totalSteps) +
                   ", which is less than " + what +
                   ", as compiled; give these too, or raise --steps";
}

std::string tessera::completeRate(LearningRateOptions &rate,
                                  const GivenFlags &given) {
  if (!given.count("--min-lr"))
    rate.smallest = smallestOf(rate);
  std::string why = checkSmallest(rate, given);
  return why.empty() ? checkSteps(rate, given) : why;
}

std::string tessera::mergeRate(const LearningRateOptions &compiled,
                               LearningRateOptions &rate,
                               const GivenFlags &given) {
  auto keep = [&](const char *flag, auto field) {
    if (!given.count(flag))
      rate.*field = compiled.*field;
  };
  keep("--lr", &LearningRateOptions::largest);
  keep("--lr-schedule", &LearningRateOptions::schedule);
  keep("--min-lr", &LearningRateOptions::smallest);
  keep("--warmup-steps", &LearningRateOptions::warmupSteps);
  keep("--decay-steps", &LearningRateOptions::decaySteps);
  if (compiled.totalSteps > 0)
    keep("--steps", &LearningRateOptions::totalSteps);
  // The end of a schedule of another kind is no end of this one.
  bool isOther = rate.schedule != compiled.schedule;
  if (isOther && !given.count("--decay-steps"))
    rate.decaySteps = 0;
  bool isConstant = rate.schedule == LearningRateSchedule::Constant;
  if ((isOther || isConstant) && !given.count("--min-lr"))
    rate.smallest = smallestOf(rate);
  std::string why = checkSmallest(rate, given);
  return why.empty() ? checkSteps(rate, given) : why;
}

std::string tessera::rateChanges(const LearningRateOptions &compiled,
                                 const LearningRateOptions &rate) {
  std::string changes;
  auto compare = [&](const char *flag, auto field, auto toText) {
    if (rate.*field != compiled.*field)
      changes += (changes.empty() ? "" : ", ") + std::string(flag) + " " +
                 toText(rate.*field) + " (was " + toText(compiled.*field) + ")";
  };
  auto number = [](auto value) { return text(value); };
  auto name = [](LearningRateSchedule kind) -> std::string {
    return nameOf(kind);
  };
  compare("--lr", &LearningRateOptions::largest, number);
  compare("--lr-schedule", &LearningRateOptions::schedule, name);
  compare("--min-lr", &LearningRateOptions::smallest, number);
  compare("--warmup-steps", &LearningRateOptions::warmupSteps, number);
  compare("--decay-steps", &LearningRateOptions::decaySteps, number);
  compare("--steps", &LearningRateOptions::totalSteps, number);
  return changes;
}
