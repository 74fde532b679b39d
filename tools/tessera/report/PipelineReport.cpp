//===- PipelineReport.cpp - the stages of an artifact ---------------------===//

#include "tools/tessera/report/PipelineReport.h"
#include "tessera/Options/Counted.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Schedule/Picture.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/report/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::pipeline;

/// "F0": kind and chunk. Messages are no tasks of a schedule.
static std::optional<Task> parseTask(StringRef text) {
  for (TaskKind kind :
       {TaskKind::Forward, TaskKind::Backward, TaskKind::Weights}) {
    Task task{kind, 0, 0};
    if (StringRef chunk = text; chunk.consume_front(taskKindName(kind)) &&
                                !chunk.getAsInteger(10, task.chunk))
      return task;
  }
  return std::nullopt;
}

/// Of one stage; false where it is malformed.
static bool readTasks(const json::Array &list, ProgramTasks &tasks) {
  int64_t calls = 0;
  for (const json::Value &value : list) {
    const json::Object *task = value.getAsObject();
    std::optional<StringRef> name =
        task ? task->getString("name") : std::nullopt;
    std::optional<int64_t> begin =
        task ? task->getInteger("begin") : std::nullopt;
    std::optional<int64_t> end = task ? task->getInteger("end") : std::nullopt;
    std::optional<bool> last = task ? task->getBoolean("last") : std::nullopt;
    if (!name || !begin || !end || !last || *begin < calls || *end < *begin)
      return false;
    tasks.tasks.push_back({name->str(), {*begin, *end}, *last});
    calls = *end;
  }
  return true;
}

/// One run of tasks, written out; `next` has the micro-batch of each task.
static bool readRun(const json::Array &run, int64_t microBatches,
                    std::vector<int64_t> &next, ProgramTasks &tasks) {
  int64_t times = run.empty() ? 0 : run[0].getAsInteger().value_or(0);
  if (times < 1 || times > microBatches || run.size() < 2)
    return false;
  for (int64_t k = 0; k < times; ++k)
    for (const json::Value &number : drop_begin(run)) {
      int64_t task = number.getAsInteger().value_or(-1);
      if (task < 0 || task >= static_cast<int64_t>(next.size()) ||
          next[task] >= microBatches)
        return false;
      tasks.order.push_back({task, next[task]++});
    }
  return true;
}

/// Of one stage. Tasks of the last micro-batch run for that one alone, others
/// for one after the other.
static bool readOrder(const json::Array &runs, int64_t microBatches,
                      ProgramTasks &tasks) {
  std::vector<int64_t> next;
  for (const ProgramTasks::Task &task : tasks.tasks)
    next.push_back(task.isLast ? microBatches - 1 : 0);
  return all_of(runs, [&](const json::Value &run) {
    return run.getAsArray() &&
           readRun(*run.getAsArray(), microBatches, next, tasks);
  });
}

bool PipelineReport::readTasks(const json::Object &pipeline) {
  const json::Array *lists = pipeline.getArray("tasks");
  const json::Array *orders = pipeline.getArray("order");
  if (!lists || !orders || lists->size() != orders->size() ||
      static_cast<int64_t>(lists->size()) != schedule.shape.stages)
    return false;
  for (auto [list, order] : llvm::zip(*lists, *orders)) {
    tasks.emplace_back();
    if (!list.getAsArray() || !order.getAsArray() ||
        !::readTasks(*list.getAsArray(), tasks.back()) ||
        !readOrder(*order.getAsArray(), schedule.shape.microBatches,
                   tasks.back()))
      return false;
  }
  return true;
}

/// A chunk that is an embedding alone has gradients of weights only. In the
/// schedule its backward task stands before them.
static bool hasBackward(const ProgramTasks &tasks, int64_t chunk) {
  return any_of(tasks.tasks, [&](const ProgramTasks::Task &task) {
    std::optional<Task> parsed = parseTask(task.name);
    return parsed && parsed->kind == TaskKind::Backward &&
           parsed->chunk == chunk;
  });
}

bool PipelineReport::readSchedule(const json::Object &pipeline) {
  auto number = [&](StringRef key) {
    return pipeline.getInteger(key).value_or(0);
  };
  auto kind =
      fromName<ScheduleKind>(pipeline.getString("schedule").value_or("").str());
  schedule.shape = {number("stages"), number("virtual_stages"),
                    number("micro_batches")};
  const json::Array *chunks = pipeline.getArray("chunks");
  if (!kind || !chunks || schedule.shape.stages < 1 ||
      schedule.shape.stages > static_cast<int64_t>(chunks->size()))
    return false;
  schedule.kind = *kind;
  if (!pipeline.get("tasks")) {
    tasks.resize(schedule.shape.stages);
    return true;
  }
  if (!readTasks(pipeline))
    return false;
  for (const ProgramTasks &each : tasks) {
    schedule.stages.emplace_back();
    for (ProgramTasks::Entry entry : each.order)
      if (std::optional<Task> task = parseTask(each.tasks[entry.task].name)) {
        task->microBatch = entry.microBatch;
        if (task->kind == TaskKind::Weights && !hasBackward(each, task->chunk))
          schedule.stages.back().push_back(
              {TaskKind::Backward, task->chunk, task->microBatch});
        schedule.stages.back().push_back(*task);
      }
  }
  return true;
}

void PipelineReport::readStages(const json::Object &root) {
  stages.resize(schedule.shape.stages);
  for (const json::Value &value :
       *root.getObject("pipeline")->getArray("chunks")) {
    const json::Object &chunk = *value.getAsObject();
    int64_t stage = *chunk.getInteger("stage");
    std::string first = chunk.getString("first").value_or("").str();
    std::string last = chunk.getString("last").value_or("").str();
    std::string &text = stages[stage].chunks;
    text += (text.empty() ? "" : ", ") + first +
            (first == last ? "" : " - " + last);
    chunks.push_back({stage, first, last});
  }
  const json::Array &arenas = *root.getObject("arena")->getArray("stages");
  const json::Array &reports = *root.getObject("report")->getArray("stages");
  for (auto [stage, arena, report] : zip(stages, arenas, reports)) {
    stage.arenaBytes = *arena.getAsObject()->getInteger("bytes");
    const json::Object &numbers = *report.getAsObject();
    stage.parameters = *numbers.getInteger("parameters_per_rank");
    for (const auto &[phase, flops] : *numbers.getObject("flops_per_rank"))
      stage.flops += flops.getAsNumber().value_or(0);
    const json::Object *traffic =
        numbers.getObject("communication_per_rank")->getObject(kPipelineAxis);
    if (traffic)
      stage.bytesSent = static_cast<int64_t>(
          traffic->getNumber("ring_bytes_sent").value_or(0));
  }
}

bool PipelineReport::read(const json::Object &root) {
  const json::Object *pipeline = root.getObject("pipeline");
  if (!pipeline || !readSchedule(*pipeline))
    return false;
  readStages(root);
  if (!isInTurn())
    return simulateSchedule(*pipeline);
  alike.bubble = 1 - 1.0 / static_cast<double>(schedule.shape.stages);
  alike.inFlight.assign(schedule.shape.stages, 1);
  byFlops = alike;
  return true;
}

bool PipelineReport::simulateSchedule(const json::Object &pipeline) {
  alike = simulate(schedule, Times::equal(schedule.shape));
  Times times;
  for (const json::Value &chunk : *pipeline.getArray("chunks")) {
    double flops = chunk.getAsObject()->getNumber("forward_flops").value_or(0);
    flops = std::max(flops, 1.0); // an embedding alone
    for (auto *each : {&times.forward, &times.backward, &times.weights})
      each->push_back(flops);
  }
  byFlops = simulate(schedule, times);
  return alike.error.empty() && byFlops.error.empty();
}

std::string PipelineReport::text(size_t width) const {
  const Shape &shape = schedule.shape;
  std::string text = formatv(
      "pipeline: {0} stages of {1}, which work in turn, so that each is idle "
      "for {2:f1} % of a step",
      shape.stages, counted(shape.virtualStages, "chunk"), 100 * alike.bubble);
  if (!isInTurn())
    text = formatv(
        "pipeline: {0}, {1} stages of {2}, {3}; bubble {4:f1} % if all chunks "
        "take the same time, {5:f1} % by their flops",
        nameOf(schedule.kind), shape.stages,
        counted(shape.virtualStages, "chunk"),
        counted(shape.microBatches, "micro-batch"), 100 * alike.bubble,
        100 * byFlops.bubble);
  text = wrapText(text, width, 2) + "\n";
  Table table({"stage", "holds", "parameters", "memory", "flops", "in flight",
               "bytes sent"});
  table.mayWrap("holds", 16);
  table.mayLeaveOut({"bytes sent", "parameters"});
  for (auto [number, stage] : enumerate(stages))
    table.add({std::to_string(number), stage.chunks,
               std::to_string(stage.parameters), bytesText(stage.arenaBytes),
               countText(stage.flops), std::to_string(alike.inFlight[number]),
               std::to_string(stage.bytesSent)});
  return text + table.str(width);
}

/// When each stage runs what, as shares of the step by the flops of chunks.
json::Array PipelineReport::timesJson() const {
  json::Array all;
  for (const std::vector<Task> &stage : schedule.stages) {
    json::Array times;
    for (const Task &task : stage) {
      const Interval &time = byFlops.tasks.at(task);
      times.push_back(json::Object{{"kind", taskKindName(task.kind)},
                                   {"chunk", task.chunk},
                                   {"micro_batch", task.microBatch},
                                   {"begin", time.begin / byFlops.length},
                                   {"end", time.end / byFlops.length}});
    }
    all.push_back(std::move(times));
  }
  return all;
}

json::Object PipelineReport::json() const {
  json::Array list;
  for (auto [number, stage] : enumerate(stages))
    list.push_back(json::Object{{"holds", stage.chunks},
                                {"parameters", stage.parameters},
                                {"memory", stage.arenaBytes},
                                {"flops", stage.flops},
                                {"in_flight", alike.inFlight[number]},
                                {"bytes_sent", stage.bytesSent}});
  return json::Object{{"schedule", nameOf(schedule.kind)},
                      {"virtual_stages", schedule.shape.virtualStages},
                      {"micro_batches", schedule.shape.microBatches},
                      {"bubble", alike.bubble},
                      {"bubble_by_flops", byFlops.bubble},
                      {"times", timesJson()},
                      {"stages", std::move(list)}};
}

std::string PipelineReport::picture() const {
  return drawSchedule(schedule, byFlops);
}
