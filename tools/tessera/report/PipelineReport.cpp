//===- PipelineReport.cpp - the stages of an artifact ---------------------===//

#include "tools/tessera/report/PipelineReport.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Schedule/Picture.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/report/Table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::pipeline;

/// "F2.0": kind, micro-batch, chunk.
static bool parseTask(StringRef text, Task &task) {
  auto [number, chunk] = text.drop_front(!text.empty()).split('.');
  for (TaskKind kind :
       {TaskKind::Forward, TaskKind::Backward, TaskKind::Weights})
    if (text.starts_with(taskKindName(kind)))
      task.kind = kind;
  return !number.getAsInteger(10, task.microBatch) &&
         !chunk.getAsInteger(10, task.chunk);
}

bool PipelineReport::readSchedule(const json::Object &pipeline) {
  auto number = [&](StringRef key) {
    return pipeline.getInteger(key).value_or(0);
  };
  auto kind =
      fromName<ScheduleKind>(pipeline.getString("schedule").value_or("").str());
  const json::Array *orders = pipeline.getArray("order");
  schedule.shape = {number("stages"), number("virtual_stages"),
                    number("micro_batches")};
  if (!kind || !orders ||
      static_cast<int64_t>(orders->size()) != schedule.shape.stages)
    return false;
  schedule.kind = *kind;
  for (const json::Value &order : *orders) {
    schedule.stages.emplace_back();
    for (const json::Value &text : *order.getAsArray()) {
      Task task;
      if (!parseTask(text.getAsString().value_or(""), task))
        return false;
      schedule.stages.back().push_back(task);
    }
  }
  return true;
}

void PipelineReport::readStages(const json::Object &root) {
  stages.resize(schedule.shape.stages);
  for (const json::Value &value :
       *root.getObject("pipeline")->getArray("chunks")) {
    const json::Object &chunk = *value.getAsObject();
    std::string &text = stages[*chunk.getInteger("stage")].chunks;
    StringRef first = chunk.getString("first").value_or("");
    StringRef last = chunk.getString("last").value_or("");
    text += (text.empty() ? "" : ", ") + first.str() +
            (first == last ? "" : " - " + last.str());
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
  alike = simulate(schedule, Times::equal(schedule.shape));
  Times times;
  for (const json::Value &chunk : *pipeline->getArray("chunks")) {
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
      "pipeline: {0}, {1} stages of {2} chunk{3}, {4} micro-batches; bubble "
      "{5:f1} % if all chunks take the same time, {6:f1} % by their flops",
      nameOf(schedule.kind), shape.stages, shape.virtualStages,
      shape.virtualStages == 1 ? "" : "s", shape.microBatches,
      100 * alike.bubble, 100 * byFlops.bubble);
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
                      {"stages", std::move(list)}};
}

std::string PipelineReport::picture() const {
  return drawSchedule(schedule, byFlops);
}
