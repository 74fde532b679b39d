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

/// A number for each task of a schedule, in the order of tasks.
class TaskNumbers {
public:
  explicit TaskNumbers(const PipelineSchedule &schedule)
      : shape(schedule.shape), kinds(schedule.splitsBackward() ? 3 : 2) {}

  size_t of(const Task &task) const {
    return (static_cast<size_t>(task.kind) * shape.chunks() + task.chunk) *
               shape.microBatches +
           task.microBatch;
  }
  Task at(size_t number) const {
    auto part = static_cast<int64_t>(number) / shape.microBatches;
    return {static_cast<TaskKind>(part / shape.chunks()), part % shape.chunks(),
            static_cast<int64_t>(number) % shape.microBatches};
  }
  bool has(const Task &task) const {
    return static_cast<int64_t>(task.kind) < kinds && task.chunk >= 0 &&
           task.chunk < shape.chunks() && task.microBatch >= 0 &&
           task.microBatch < shape.microBatches;
  }
  /// Returns the number of tasks as a double, because a wrong shape may be of
  /// any size.
  double count() const {
    return static_cast<double>(kinds) * static_cast<double>(shape.stages) *
           static_cast<double>(shape.virtualStages) *
           static_cast<double>(shape.microBatches);
  }

private:
  Shape shape;
  int64_t kinds;
};

class Simulator {
public:
  Simulator(const PipelineSchedule &schedule, const Times &times)
      : schedule(schedule), times(times), numbers(schedule),
        next(schedule.stages.size()), free(schedule.stages.size()) {}

  Simulation run();

private:
  std::string checkStages() const;
  bool hasEachTaskOnce() const;
  std::string describeTasks() const;
  double durationOf(const Task &task) const;
  bool advance(size_t stage);
  std::string runTasks();
  void measure();

  const PipelineSchedule &schedule;
  const Times &times;
  TaskNumbers numbers;
  /// Indexed by number; it ends at -1 until it runs.
  std::vector<Interval> intervals;
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

std::string Simulator::checkStages() const {
  const Shape &shape = schedule.shape;
  for (size_t stage = 0; stage < schedule.stages.size(); ++stage)
    for (const Task &task : schedule.stages[stage])
      if (shape.stageOf(task.chunk) != static_cast<int64_t>(stage))
        return "task " + task.str() + " is at stage " + std::to_string(stage) +
               ", but its chunk lives at stage " +
               std::to_string(shape.stageOf(task.chunk));
  return "";
}

bool Simulator::hasEachTaskOnce() const {
  size_t count = 0;
  for (const std::vector<Task> &tasks : schedule.stages)
    count += tasks.size();
  if (static_cast<double>(count) != numbers.count())
    return false;
  std::vector<bool> seen(count);
  for (const std::vector<Task> &tasks : schedule.stages)
    for (const Task &task : tasks) {
      if (!numbers.has(task) || seen[numbers.of(task)])
        return false;
      seen[numbers.of(task)] = true;
    }
  return true;
}

/// Returns why a schedule does not have each task once.
std::string Simulator::describeTasks() const {
  const Shape &shape = schedule.shape;
  std::map<Task, int64_t> seen;
  for (const std::vector<Task> &tasks : schedule.stages)
    for (const Task &task : tasks)
      ++seen[task];
  std::vector<TaskKind> kinds = {TaskKind::Forward, TaskKind::Backward};
  if (schedule.splitsBackward())
    kinds.push_back(TaskKind::Weights);
  for (TaskKind kind : kinds)
    for (int64_t chunk = 0; chunk < shape.chunks(); ++chunk)
      for (int64_t j = 0; j < shape.microBatches; ++j)
        if (Task task{kind, chunk, j}; seen[task] != 1)
          return "task " + task.str() + " is there " +
                 std::to_string(seen[task]) + " times instead of once";
  return "the schedule has tasks of other chunks or micro-batches";
}

/// Runs the next task of a stage if it can.
bool Simulator::advance(size_t stage) {
  if (next[stage] == schedule.stages[stage].size())
    return false;
  const Task &task = schedule.stages[stage][next[stage]];
  double begin = free[stage];
  for (const Task &other : dependencies(schedule, task)) {
    const Interval &before = intervals[numbers.of(other)];
    if (before.end < 0)
      return false;
    begin = std::max(begin, before.end);
  }
  free[stage] = begin + durationOf(task);
  intervals[numbers.of(task)] = {begin, free[stage]};
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

/// Returns why they do not end; "" if they do.
std::string Simulator::runTasks() {
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t stage = 0; stage < next.size(); ++stage)
      while (advance(stage))
        moved = true;
  }
  for (size_t stage = 0; stage < next.size(); ++stage)
    if (next[stage] != schedule.stages[stage].size())
      return "stage " + std::to_string(stage) + " waits for ever at " +
             schedule.stages[stage][next[stage]].str();
  return "";
}

Simulation Simulator::run() {
  result.error = checkStages();
  if (result.error.empty() && !hasEachTaskOnce())
    result.error = describeTasks();
  if (!result.error.empty())
    return result;
  intervals.resize(static_cast<size_t>(numbers.count()), {0, -1});
  result.error = runTasks();
  for (size_t number = 0; number < intervals.size(); ++number)
    if (intervals[number].end >= 0)
      result.tasks.emplace_hint(result.tasks.end(), numbers.at(number),
                                intervals[number]);
  if (result.error.empty())
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
