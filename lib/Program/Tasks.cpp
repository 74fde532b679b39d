//===- Tasks.cpp - the tasks of pipeline stages ---------------------------===//

#include "tessera/Program/Program.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

/// Returns whether tasks have ranges of calls one after the other.
static bool areInOrder(ArrayRef<Task> tasks) {
  int64_t calls = 0;
  for (const Task &task : tasks) {
    if (task.begin < calls || task.end < task.begin)
      return false;
    calls = task.end;
  }
  return true;
}

/// A stage runs at most so many tasks in a step; more would fill the memory.
constexpr int64_t kMostEntries = int64_t(1) << 26;

/// Writes out one run of tasks; `next` has the micro-batch of each task.
static bool addRun(const TaskRun &run, int64_t microBatches,
                   std::vector<int64_t> &next, StageTasks &stage) {
  if (run.size() < 2 || run[0] < 1 || run[0] > microBatches)
    return false;
  auto left = kMostEntries - static_cast<int64_t>(stage.order.size());
  if (run[0] > left / static_cast<int64_t>(run.size() - 1))
    return false;
  for (int64_t k = 0; k < run[0]; ++k)
    for (int64_t task : drop_begin(run)) {
      if (task >= static_cast<int64_t>(next.size()) ||
          next[task] >= microBatches)
        return false;
      stage.order.push_back({task, next[task]++});
    }
  return true;
}

/// Tasks of the last micro-batch run for that one alone, others for one after
/// the other.
static bool addOrder(ArrayRef<TaskRun> runs, int64_t microBatches,
                     StageTasks &stage) {
  std::vector<int64_t> next;
  for (const Task &task : stage.tasks)
    next.push_back(task.isLast ? microBatches - 1 : 0);
  return all_of(runs, [&](const TaskRun &run) {
    return addRun(run, microBatches, next, stage);
  });
}

std::optional<std::vector<StageTasks>> Pipeline::stageTasks() const {
  if (!tasks || !order || tasks->size() != order->size() ||
      static_cast<int64_t>(tasks->size()) != stages)
    return std::nullopt;
  std::vector<StageTasks> all;
  for (auto [list, runs] : llvm::zip(*tasks, *order)) {
    all.push_back({list, {}});
    if (!areInOrder(list) || !addOrder(runs, microBatches, all.back()))
      return std::nullopt;
  }
  return all;
}
