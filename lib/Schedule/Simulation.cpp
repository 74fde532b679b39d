//===- Simulation.cpp - when the tasks of a schedule run ------------------===//

#include "tessera/Schedule/Simulation.h"
#include <algorithm>

namespace tessera::pipeline {

Times Times::equal(const Shape &shape) {
  double unit = 1.0 / static_cast<double>(shape.virtualStages);
  std::vector<double> each(shape.chunks(), unit);
  return {each, each, each};
}

namespace {

class Simulator {
public:
  Simulator(const PipelineSchedule &schedule, const Times &times)
      : schedule(schedule), times(times), next(schedule.stages.size()),
        free(schedule.stages.size()) {}

  Simulation run();

private:
  std::string checkTasks() const;
  double durationOf(const Task &task) const;
  bool advance(size_t stage);
  void measure();

  const PipelineSchedule &schedule;
  const Times &times;
  std::vector<size_t> next;
  std::vector<double> free;
  Simulation result;
};

double Simulator::durationOf(const Task &task) const {
  size_t chunk = task.chunk;
  if (task.kind == TaskKind::Forward)
    return times.forward[chunk];
  if (task.kind == TaskKind::Weights)
    return times.weights[chunk];
  return times.backward[chunk] +
         (schedule.splitsBackward() ? 0 : times.weights[chunk]);
}

/// Each task once, at its stage.
std::string Simulator::checkTasks() const {
  const Shape &shape = schedule.shape;
  std::map<Task, int64_t> seen;
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
    for (const Task &task : schedule.stages[stage]) {
      if (shape.stageOf(task.chunk) != static_cast<int64_t>(stage))
        return "task " + task.str() + " is at stage " + std::to_string(stage) +
               ", but its chunk lives at stage " +
               std::to_string(shape.stageOf(task.chunk));
      ++seen[task];
    }
  std::vector<TaskKind> kinds = {TaskKind::Forward, TaskKind::Backward};
  if (schedule.splitsBackward())
    kinds.push_back(TaskKind::Weights);
  for (TaskKind kind : kinds)
    for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk)
      for (int64_t j = 0; j < shape.microBatches; ++j)
        if (Task task{kind, chunk, j}; seen[task] != 1)
          return "task " + task.str() + " is there " +
                 std::to_string(seen[task]) + " times instead of once";
  if (seen.size() != kinds.size() * shape.chunks() * shape.microBatches)
    return "the schedule has tasks of other chunks or micro-batches";
  return "";
}

/// Runs the next task of a stage if it can.
bool Simulator::advance(size_t stage) {
  if (next[stage] == schedule.stages[stage].size())
    return false;
  const Task &task = schedule.stages[stage][next[stage]];
  double begin = free[stage];
  for (const Task &other : dependencies(schedule, task)) {
    auto it = result.tasks.find(other);
    if (it == result.tasks.end())
      return false;
    begin = std::max(begin, it->second.end);
  }
  free[stage] = begin + durationOf(task);
  result.tasks[task] = {begin, free[stage]};
  ++next[stage];
  return true;
}

void Simulator::measure() {
  double busy = 0;
  TaskKind last =
      schedule.splitsBackward() ? TaskKind::Weights : TaskKind::Backward;
  for (const std::vector<Task> &tasks : schedule.stages) {
    int64_t held = 0, most = 0;
    for (const Task &task : tasks) {
      busy += durationOf(task);
      held += task.kind == TaskKind::Forward ? 1 : task.kind == last ? -1 : 0;
      most = std::max(most, held);
    }
    result.inFlight.push_back(most);
  }
  result.length = *std::max_element(free.begin(), free.end());
  result.bubble = 1 - busy / (result.length * static_cast<double>(free.size()));
}

Simulation Simulator::run() {
  result.error = checkTasks();
  if (!result.error.empty())
    return result;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t stage = 0; stage < next.size(); ++stage)
      while (advance(stage))
        moved = true;
  }
  for (size_t stage = 0; stage < next.size(); ++stage)
    if (next[stage] != schedule.stages[stage].size()) {
      result.error = "stage " + std::to_string(stage) + " waits for ever at " +
                     schedule.stages[stage][next[stage]].str();
      return result;
    }
  measure();
  return result;
}

} // namespace

Simulation simulate(const PipelineSchedule &schedule, const Times &times) {
  return Simulator(schedule, times).run();
}

double bubbleFormula(ScheduleKind kind, const Shape &shape) {
  double p = static_cast<double>(shape.stages);
  double v = static_cast<double>(shape.virtualStages);
  double m = static_cast<double>(shape.microBatches);
  if (kind != ScheduleKind::ZeroBubble)
    return (p - 1) / (v * m + p - 1);
  double idle = p - 1 + std::max(0.0, p - m);
  return idle / (3 * m + idle);
}

} // namespace tessera::pipeline
