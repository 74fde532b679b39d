//===- ParseTasks.cpp - the tasks of pipeline stages, from JSON -----------===//
#include "runtime/artifact/ParseTasks.h"

#include "runtime/artifact/FieldView.h"
#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

namespace {
/// The ops of a stage, and which of all tasks are its own.
struct StageTasks {
  int64_t firstOp, ops;
  size_t firstTask;
  std::vector<bool> isLast; ///< indexed by task
};

/// Tasks have ranges of calls one after the other.
void parseTask(const JsonView &view, StageTasks &stage, int64_t &calls,
               Metadata &metadata) {
  int64_t begin = integerAt(view, fields::Task::begin, calls, stage.ops);
  calls = integerAt(view, fields::Task::end, begin, stage.ops);
  auto number = static_cast<int64_t>(metadata.tasks.size());
  for (int64_t call = begin; call < calls; ++call)
    metadata.ops[stage.firstOp + call].task = number;
  metadata.tasks.push_back({at(view, fields::Task::name).text()});
  stage.isLast.push_back(at(view, fields::Task::isLast).boolean());
}

/// A task of the last micro-batch runs once, others for those before it.
void checkTimes(const JsonView &view, const StageTasks &stage,
                const Metadata &metadata) {
  bool hasLast = std::find(stage.isLast.begin(), stage.isLast.end(), true) !=
                 stage.isLast.end();
  int64_t inLoop = metadata.model.microBatches - (hasLast ? 1 : 0);
  for (size_t i = 0; i < stage.isLast.size(); ++i) {
    const TaskInfo &task = metadata.tasks[stage.firstTask + i];
    int64_t times = stage.isLast[i] ? 1 : inLoop;
    if (task.microBatches != times)
      view.refuse(concat("has task ", i, " ('", task.name, "') ",
                         task.microBatches, " times, it must be ", times));
  }
}

/// Parses a run: how often its tasks run, and the tasks. Every task runs for
/// one of its micro-batches after the other.
void parseRun(const JsonView &view, const StageTasks &stage,
              Metadata &metadata) {
  auto tasks = static_cast<int64_t>(stage.isLast.size());
  std::vector<JsonView> numbers = view.items();
  if (numbers.size() < 2)
    view.refuse(concat("has ", numbers.size(),
                       " numbers, it must have how often tasks run, and the "
                       "tasks"));
  int64_t times = numbers[0].integer(1, metadata.model.microBatches);
  for (size_t i = 1; i < numbers.size(); ++i) {
    int64_t number = numbers[i].integer(0, tasks - 1);
    TaskInfo &task = metadata.tasks[stage.firstTask + number];
    task.microBatches += times;
    if (task.microBatches > metadata.model.microBatches)
      view.refuse(concat("has task ", number, " ('", task.name, "') ",
                         task.microBatches, " times, there are ",
                         metadata.model.microBatches, " micro-batches"));
    if (stage.isLast[number])
      task.firstMicroBatch = metadata.model.microBatches - 1;
  }
}

void parseOrder(const JsonView &view, const StageTasks &stage,
                Metadata &metadata) {
  for (const JsonView &run : view.items())
    parseRun(run, stage, metadata);
  checkTimes(view, stage, metadata);
}

void checkCount(const JsonView &view, size_t count, int64_t stages) {
  if (static_cast<int64_t>(count) != stages)
    view.refuse(concat("has ", count, " entries for the ", stages, " stages"));
}

/// The ops of stages are one after the other.
StageTasks opsOf(const Metadata &metadata, size_t firstOp, int64_t stage) {
  auto isBefore = [](const OpInfo &op, int64_t stage) {
    return op.stage < stage;
  };
  auto begin = metadata.ops.begin();
  auto first = std::lower_bound(begin + static_cast<int64_t>(firstOp),
                                metadata.ops.end(), stage, isBefore);
  auto last = std::lower_bound(first, metadata.ops.end(), stage + 1, isBefore);
  return {first - begin, last - first, metadata.tasks.size(), {}};
}
} // namespace

void parseTasks(const JsonView &program, size_t firstOp, Metadata &metadata) {
  if (!has(program, fields::Pipeline::tasks) &&
      !has(program, fields::Pipeline::order))
    return;
  JsonView tasks = at(program, fields::Pipeline::tasks),
           order = at(program, fields::Pipeline::order);
  std::vector<JsonView> lists = tasks.items(), orders = order.items();
  checkCount(tasks, lists.size(), metadata.mesh.stages());
  checkCount(order, orders.size(), metadata.mesh.stages());
  for (size_t number = 0; number < lists.size(); ++number) {
    StageTasks stage = opsOf(metadata, firstOp, static_cast<int64_t>(number));
    int64_t calls = 0;
    for (const JsonView &item : lists[number].items())
      parseTask(item, stage, calls, metadata);
    parseOrder(orders[number], stage, metadata);
  }
}

} // namespace tessera
