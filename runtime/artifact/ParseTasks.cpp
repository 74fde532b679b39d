//===- ParseTasks.cpp - the tasks of pipeline stages, from JSON -----------===//
#include "runtime/artifact/ParseTasks.h"

#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

namespace {
/// The ops of a stage, and which of all tasks are its own.
struct StageTasks {
  int64_t firstOp, ops;
  size_t firstTask;
  std::vector<bool> isLast; ///< by task
};

/// Tasks have ranges of calls one after the other.
void parseTask(const JsonView &view, StageTasks &stage, int64_t &calls,
               Metadata &metadata) {
  int64_t begin = view.at("begin").integer(calls, stage.ops);
  calls = view.at("end").integer(begin, stage.ops);
  auto number = static_cast<int64_t>(metadata.tasks.size());
  for (int64_t call = begin; call < calls; ++call)
    metadata.ops[stage.firstOp + call].task = number;
  metadata.tasks.push_back({view.at("name").text()});
  stage.isLast.push_back(view.at("last").boolean());
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

/// Every task runs for one of its micro-batches after the other.
void parseOrder(const JsonView &view, const StageTasks &stage,
                Metadata &metadata) {
  auto tasks = static_cast<int64_t>(stage.isLast.size());
  int64_t microBatches = metadata.model.microBatches;
  std::vector<int64_t> pairs = view.integers(0, INT64_MAX);
  if (pairs.size() % 2 != 0)
    view.refuse(concat("has ", pairs.size(), " numbers, which are no pairs"));
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i] >= tasks)
      view.refuse(concat("names task ", pairs[i], " of ", tasks));
    TaskInfo &task = metadata.tasks[stage.firstTask + pairs[i]];
    if (task.microBatches == 0 && stage.isLast[pairs[i]])
      task.firstMicroBatch = microBatches - 1;
    int64_t next = task.firstMicroBatch + task.microBatches++;
    if (pairs[i + 1] != next)
      view.refuse(concat("has task ", pairs[i], " ('", task.name,
                         "') for micro-batch ", pairs[i + 1], ", it must be ",
                         next));
  }
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
  if (!program.has("tasks") && !program.has("order"))
    return;
  JsonView tasks = program.at("tasks"), order = program.at("order");
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
