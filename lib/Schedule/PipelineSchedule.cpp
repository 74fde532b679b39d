//===- PipelineSchedule.cpp - kinds of schedules --------------------------===//

#include "lib/Schedule/Generators.h"
#include "tessera/Options/Counted.h"
#include <tuple>

namespace tessera::pipeline {

namespace {

struct KindEntry {
  ScheduleKind kind;
  Order (*order)(const Shape &, int64_t);
};

constexpr KindEntry kKinds[] = {
    {ScheduleKind::GPipe, gpipeOrder},
    {ScheduleKind::OneForwardOneBackward, oneForwardOneBackwardOrder},
    {ScheduleKind::Interleaved, interleavedOrder},
    {ScheduleKind::ZeroBubble, zeroBubbleOrder},
};

const KindEntry &entryOf(ScheduleKind kind) {
  return kKinds[static_cast<int>(kind)];
}

} // namespace

const char *taskKindName(TaskKind kind) {
  static const char *const names[] = {"F", "B", "W"};
  return names[static_cast<int>(kind)];
}

bool Task::operator<(const Task &other) const {
  return std::tie(kind, chunk, microBatch) <
         std::tie(other.kind, other.chunk, other.microBatch);
}

std::string Task::str() const {
  return taskKindName(kind) + std::to_string(microBatch) + "." +
         std::to_string(chunk);
}

std::string checkShape(ScheduleKind kind, const Shape &shape) {
  // A product may overflow.
  bool fits = shape.stages <= kMostParts &&
              shape.virtualStages <= kMostParts / shape.stages &&
              shape.microBatches <= kMostParts / shape.chunks();
  if (!fits)
    return "a pipeline has at most " + counted(kMostParts, "micro-batch") +
           " of all chunks together, but " +
           counted(shape.microBatches, "micro-batch") + " pass through " +
           counted(shape.stages, "stage") + " of " +
           counted(shape.virtualStages, "chunk") +
           "; use fewer micro-batches or virtual stages";
  bool manyChunks = shape.virtualStages > 1;
  if (manyChunks == (kind == ScheduleKind::Interleaved))
    return "";
  return std::string("schedule '") + nameOf(kind) + "' has " +
         (manyChunks ? "1 chunk" : "several chunks") + " per stage, but " +
         counted(shape.virtualStages, "virtual stage") +
         (manyChunks ? " are" : " is") + " asked for; " +
         (manyChunks ? "use schedule 'interleaved'"
                     : "use 2 or more virtual stages, or schedule '1f1b'");
}

PipelineSchedule makeSchedule(ScheduleKind kind, const Shape &shape) {
  PipelineSchedule schedule{kind, shape, {}};
  for (int64_t stage = 0; stage < shape.stages; ++stage)
    schedule.stages.push_back(entryOf(kind).order(shape, stage));
  return schedule;
}

std::vector<Task> dependencies(const PipelineSchedule &schedule,
                               const Task &task) {
  int64_t chunk = task.chunk, j = task.microBatch;
  if (task.kind == TaskKind::Weights)
    return {{TaskKind::Backward, chunk, j}};
  if (task.kind == TaskKind::Forward)
    return chunk == 0 ? std::vector<Task>()
                      : std::vector<Task>{{TaskKind::Forward, chunk - 1, j}};
  std::vector<Task> found = {{TaskKind::Forward, chunk, j}};
  if (chunk + 1 < schedule.shape.chunks())
    found.push_back({TaskKind::Backward, chunk + 1, j});
  return found;
}

} // namespace tessera::pipeline
