//===- Windows.cpp - what is computed beside communication ----------------===//

#include "tools/tessera/report/Windows.h"
#include <algorithm>

using namespace tessera;

static Work operator+(const Work &a, const Work &b) {
  return {a.ops + b.ops, a.flops + b.flops};
}

static Work operator-(const Work &a, const Work &b) {
  return {a.ops - b.ops, a.flops - b.flops};
}

ProgramWork::ProgramWork(ProgramTasks given) : tasks(std::move(given)) {}

/// -1: the call is in no task.
int64_t ProgramWork::taskOf(int64_t call) const {
  auto after = std::partition_point(
      tasks.tasks.begin(), tasks.tasks.end(),
      [&](const ProgramTasks::Task &task) { return task.calls.end <= call; });
  bool isIn = after != tasks.tasks.end() && after->calls.begin <= call;
  return isIn ? after - tasks.tasks.begin() : -1;
}

void ProgramWork::add(const Work &once, int64_t times) {
  // A task is counted when it runs.
  int64_t counted = taskOf(calls()) < 0 ? times : 1;
  sums.push_back(sums.back() + Work{once.ops * counted,
                                    once.flops * static_cast<double>(counted)});
}

/// What is before the tasks, the tasks in their order, and what is after them.
std::vector<ProgramWork::Run> ProgramWork::timeline() const {
  std::vector<Run> runs;
  int64_t time = 0;
  auto add = [&](Window window) {
    runs.push_back({window, time});
    time += window.end - window.begin;
  };
  if (tasks.tasks.empty()) {
    add({0, calls()});
    return runs;
  }
  add({0, tasks.tasks.front().calls.begin});
  for (ProgramTasks::Entry entry : tasks.order)
    add(tasks.tasks[entry.task].calls);
  add({tasks.tasks.back().calls.end, calls()});
  return runs;
}

/// A window begins in the run of a task for a micro-batch, and ends in one for
/// the same, or in the only run of its calls.
std::vector<Window>
ProgramWork::windowsInTime(const std::vector<Run> &runs,
                           const std::vector<Window> &windows) const {
  std::vector<std::vector<int64_t>> runsOf(tasks.tasks.size());
  for (size_t k = 0; k < tasks.order.size(); ++k)
    runsOf[tasks.order[k].task].push_back(static_cast<int64_t>(k) + 1);
  auto timeOf = [&](int64_t call, size_t occurrence) {
    int64_t task = taskOf(call);
    const Run &run =
        task >= 0 ? runs[runsOf[task].size() > 1 ? runsOf[task][occurrence]
                                                 : runsOf[task].front()]
        : call < runs.front().calls.end ? runs.front()
                                        : runs.back();
    return run.begin + call - run.calls.begin;
  };
  std::vector<Window> all;
  for (Window window : windows) {
    int64_t task = taskOf(window.begin);
    size_t count = task < 0 ? 1 : runsOf[task].size();
    for (size_t occurrence = 0; occurrence < count; ++occurrence)
      all.push_back({timeOf(window.begin, occurrence),
                     timeOf(std::min(window.end, calls()), occurrence)});
  }
  return all;
}

Work ProgramWork::inside(const std::vector<Window> &windows) const {
  std::vector<Run> runs = timeline();
  std::vector<Work> before = {{}}; // What earlier runs computed.
  for (const Run &run : runs)
    before.push_back(before.back() +
                     (sums[run.calls.end] - sums[run.calls.begin]));
  auto workUntil = [&](int64_t time) {
    auto run =
        std::partition_point(runs.begin() + 1, runs.end(),
                             [&](const Run &run) { return run.begin <= time; });
    --run;
    int64_t call = run->calls.begin + time - run->begin;
    return before[run - runs.begin()] + (sums[call] - sums[run->calls.begin]);
  };
  std::vector<Window> sorted = windowsInTime(runs, windows);
  std::sort(sorted.begin(), sorted.end(),
            [](const Window &a, const Window &b) { return a.begin < b.begin; });
  Work work;
  int64_t counted = 0; // What is before is counted, or in no window.
  for (const Window &window : sorted) {
    int64_t begin = std::max(window.begin, counted);
    if (begin >= window.end)
      continue;
    work = work + (workUntil(window.end) - workUntil(begin));
    counted = window.end;
  }
  return work;
}
