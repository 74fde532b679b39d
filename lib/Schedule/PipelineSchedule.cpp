//===- PipelineSchedule.cpp - kinds of schedules --------------------------===//

#include "lib/Schedule/Generators.h"
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
