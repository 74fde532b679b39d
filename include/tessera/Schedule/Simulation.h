//===- Simulation.h - when the tasks of a schedule run ----------*- C++ -*-===//
// Every stage runs its tasks in order, each as soon as what it depends on has
// ended. Messages take no time, so what is idle is the schedule's own bubble.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SCHEDULE_SIMULATION_H
#define TESSERA_SCHEDULE_SIMULATION_H

#include "tessera/Schedule/PipelineSchedule.h"
#include <map>

namespace tessera::pipeline {

/// Time of one micro-batch in each chunk, in any unit, above 0. A backward task
/// that is not split takes `backward` and `weights`.
struct Times {
  std::vector<double> forward, backward, weights;

  /// Returns all chunks alike: a stage's forward takes 1, its backward 2, as
  /// matrix products do.
  static Times equal(const Shape &shape);
};

struct Interval {
  double begin = 0, end = 0;
};

struct Simulation {
  std::map<Task, Interval> tasks;
  double length = 0;
  /// Share of the stages' time that is idle.
  double bubble = 0;
  /// For each stage, the most micro-batches of one chunk (summed over its
  /// chunks) whose forward has run and whose last backward task has not.
  std::vector<int64_t> inFlight;
  /// Why the schedule does not end or is none: "" if it is right.
  std::string error;
};

/// Simulates a schedule, and checks that every task is there once.
Simulation simulate(const PipelineSchedule &schedule, const Times &times);

/// The bubble's share for chunks of equal time, from the literature: GPipe
/// (Huang et al. 2019) and 1F1B (p-1)/(m+p-1); interleaved (Narayanan et al.
/// 2021) (p-1)/(vm+p-1) where p divides m; ZB-H1 (Qi et al. 2023)
/// (p-1)/(3m+p-1) where m is at least p, and (p-1 + p-m) idle units of
/// 3m+p-1 + p-m below.
/// Interleaved, where p does not divide m: a lower bound.
double bubbleFormula(ScheduleKind kind, const Shape &shape);

} // namespace tessera::pipeline

#endif // TESSERA_SCHEDULE_SIMULATION_H
