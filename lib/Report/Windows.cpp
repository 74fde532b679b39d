//===- Windows.cpp - what is computed beside communication ----------------===//

#include "tessera/Report/Windows.h"
#include <algorithm>

using namespace tessera;

static Work operator+(const Work &a, const Work &b) {
  return {a.ops + b.ops, a.flops + b.flops};
}

static Work operator-(const Work &a, const Work &b) {
  return {a.ops - b.ops, a.flops - b.flops};
}

ProgramWork::ProgramWork(program::StageTasks given) : tasks(std::move(given)) {}

/// -1: the call is in no task.
int64_t ProgramWork::taskOf(int64_t call) const {
  auto after = std::partition_point(
      tasks.tasks.begin(), tasks.tasks.end(),
      [&](const program::Task &task) { return task.end <= call; });
  bool isIn = after != tasks.tasks.end() && after->begin <= call;
  return isIn ? after - tasks.tasks.begin() : -1;
}

void ProgramWork::add(const Work &once, int64_t times) {
  // A task is counted when it runs.
  int64_t counted = taskOf(calls()) < 0 ? times : 1;
  sums.push_back(sums.back() + Work{once.ops * counted,
                                    once.flops * static_cast<double>(counted)});
}

void WorkInTime::addRun(Window calls) {
  Run run{calls, 0, {}};
  if (!runs.empty()) {
    const Run &last = runs.back();
    run.begin = last.begin + last.calls.end - last.calls.begin;
    run.before = last.before + (program.sums[last.calls.end] -
                                program.sums[last.calls.begin]);
  }
  runs.push_back(run);
}

/// Lists what is before the tasks, the tasks in their order, and what is after
/// them.
WorkInTime::WorkInTime(const ProgramWork &program)
    : program(program), runsOfTask(program.tasks.tasks.size()) {
  const program::StageTasks &tasks = program.tasks;
  if (tasks.tasks.empty()) {
    addRun({0, program.calls()});
    return;
  }
  addRun({0, tasks.tasks.front().begin});
  for (program::TaskEntry entry : tasks.order) {
    runsOfTask[entry.task].push_back(runs.size());
    const program::Task &task = tasks.tasks[entry.task];
    addRun({task.begin, task.end});
  }
  addRun({tasks.tasks.back().end, program.calls()});
}

WorkInTime::Moment WorkInTime::momentOf(int64_t call, size_t occurrence) const {
  int64_t task = program.taskOf(call);
  size_t number = call < runs.front().calls.end ? 0 : runs.size() - 1;
  if (task >= 0)
    number = runsOfTask[task][runsOfTask[task].size() > 1 ? occurrence : 0];
  const Run &run = runs[number];
  return {run.begin + call - run.calls.begin,
          run.before + (program.sums[call] - program.sums[run.calls.begin])};
}

/// A window begins in the run of a task for a micro-batch, and ends in one for
/// the same, or in the only run of its calls.
std::vector<WorkInTime::Span>
WorkInTime::spansOf(const std::vector<Window> &windows) const {
  std::vector<Span> spans;
  for (Window window : windows) {
    int64_t task = program.taskOf(window.begin);
    size_t count = task < 0 ? 1 : runsOfTask[task].size();
    int64_t end = std::min(window.end, program.calls());
    for (size_t occurrence = 0; occurrence < count; ++occurrence)
      spans.push_back(
          {momentOf(window.begin, occurrence), momentOf(end, occurrence)});
  }
  return spans;
}

Work WorkInTime::inside(const std::vector<Window> &windows) const {
  std::vector<Span> spans = spansOf(windows);
  std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) {
    return a.first.time < b.first.time;
  });
  Work work;
  Moment counted; // Work before it is counted, or in no window.
  for (const auto &[begin, end] : spans) {
    const Moment &from = begin.time < counted.time ? counted : begin;
    if (from.time >= end.time)
      continue;
    work = work + (end.before - from.before);
    counted = end;
  }
  return work;
}
