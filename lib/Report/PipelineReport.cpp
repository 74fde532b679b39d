//===- PipelineReport.cpp - the stages of an artifact ---------------------===//

#include "tessera/Report/PipelineReport.h"
#include "tessera/Options/Counted.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Schedule/Picture.h"
#include "tessera/Text/Table.h"
#include "tessera/Text/TextWrap.h"
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

/// A chunk that is an embedding alone has gradients of weights only. In the
/// schedule its backward task stands before them.
static bool hasBackward(const program::StageTasks &tasks, int64_t chunk) {
  return any_of(tasks.tasks, [&](const program::Task &task) {
    std::optional<Task> parsed = parseTask(task.name);
    return parsed && parsed->kind == TaskKind::Backward &&
           parsed->chunk == chunk;
  });
}

bool PipelineReport::readSchedule(const program::Pipeline &pipeline) {
  auto kind = fromName<ScheduleKind>(pipeline.schedule);
  schedule.shape = {pipeline.stages, pipeline.virtualStages,
                    pipeline.microBatches};
  chunks = pipeline.chunks;
  if (!kind)
    return false;
  schedule.kind = *kind;
  if (!pipeline.tasks) {
    tasks.resize(schedule.shape.stages);
    return true;
  }
  tasks = *pipeline.stageTasks();
  for (const program::StageTasks &each : tasks) {
    schedule.stages.emplace_back();
    for (program::TaskEntry entry : each.order)
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

void PipelineReport::addStages(const program::Program &program) {
  stages.resize(schedule.shape.stages);
  for (const program::Chunk &chunk : chunks) {
    std::string &text = stages[chunk.stage].chunks;
    text += (text.empty() ? "" : ", ") + chunk.first +
            (chunk.first == chunk.last ? "" : " - " + chunk.last);
  }
  for (auto [stage, arena, totals] :
       zip(stages, program.arena.stages, program.totals.stages)) {
    stage.arenaBytes = arena.bytes;
    stage.parameters = totals.parametersOfRank;
    stage.flops = static_cast<double>(totals.flopsOfRank.all());
    if (auto traffic = totals.traffic.find(kPipelineAxis);
        traffic != totals.traffic.end())
      stage.bytesSent = static_cast<int64_t>(traffic->second.ringBytes);
  }
}

Expected<std::optional<PipelineReport>>
PipelineReport::of(const program::Program &program) {
  if (!program.pipeline || program.pipeline->hasOwners)
    return std::nullopt;
  PipelineReport report;
  bool isKnown = report.readSchedule(*program.pipeline);
  report.addStages(program);
  if (!isKnown || (!report.isInTurn() && !report.simulateSchedule()))
    return createStringError("it has a schedule of stages that cannot be "
                             "simulated; compile the model with another "
                             "--schedule");
  if (!report.isInTurn())
    return report;
  int64_t stages = report.schedule.shape.stages;
  report.alike.bubble = 1 - 1.0 / static_cast<double>(stages);
  report.alike.inFlight.assign(stages, 1);
  report.byFlops = report.alike;
  return report;
}

bool PipelineReport::simulateSchedule() {
  alike = simulate(schedule, Times::equal(schedule.shape));
  Times times;
  for (const program::Chunk &chunk : chunks) {
    auto flops = static_cast<double>(chunk.forwardFlops);
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

/// Writes when each stage runs what, as shares of the step by the flops of
/// chunks.
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
