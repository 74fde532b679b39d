//===- Schedule.cpp - kinds of schedules ----------------------------------===//

#include "lib/Schedule/Generators.h"
#include <tuple>

namespace tessera::pipeline {

namespace {

struct KindEntry {
  Kind kind;
  Order (*order)(const Shape &, int64_t);
};

constexpr KindEntry kKinds[] = {
    {Kind::GPipe, gpipeOrder},
    {Kind::OneForwardOneBackward, oneForwardOneBackwardOrder},
    {Kind::Interleaved, interleavedOrder},
    {Kind::ZeroBubble, zeroBubbleOrder},
};

const KindEntry &entryOf(Kind kind) { return kKinds[static_cast<int>(kind)]; }

} // namespace

const char *phaseName(Phase phase) {
  static const char *const names[] = {"F", "B", "W"};
  return names[static_cast<int>(phase)];
}

bool Task::operator<(const Task &other) const {
  return std::tie(phase, chunk, microBatch) <
         std::tie(other.phase, other.chunk, other.microBatch);
}

std::string Task::str() const {
  return phaseName(phase) + std::to_string(microBatch) + "." +
         std::to_string(chunk);
}

const char *kindName(Kind kind) { return nameOf(kind); }

std::optional<Kind> kindFromName(const std::string &name) {
  return fromName<Kind>(name);
}

std::string checkShape(Kind kind, const Shape &shape) {
  bool manyChunks = shape.virtualStages > 1;
  if (manyChunks == (kind == Kind::Interleaved))
    return "";
  return std::string("schedule '") + kindName(kind) + "' has " +
         (manyChunks ? "1 chunk" : "several chunks") + " per stage, but " +
         std::to_string(shape.virtualStages) +
         " virtual stages are asked for; " +
         (manyChunks ? "use schedule 'interleaved'"
                     : "use 2 or more virtual stages, or schedule '1f1b'");
}

Schedule makeSchedule(Kind kind, const Shape &shape) {
  Schedule schedule{kind, shape, {}};
  for (int64_t stage = 0; stage < shape.stages; ++stage)
    schedule.stages.push_back(entryOf(kind).order(shape, stage));
  return schedule;
}

std::vector<Task> dependencies(const Schedule &schedule, const Task &task) {
  int64_t chunk = task.chunk, j = task.microBatch;
  if (task.phase == Phase::Weights)
    return {{Phase::Backward, chunk, j}};
  if (task.phase == Phase::Forward)
    return chunk == 0 ? std::vector<Task>()
                      : std::vector<Task>{{Phase::Forward, chunk - 1, j}};
  std::vector<Task> found = {{Phase::Forward, chunk, j}};
  if (chunk + 1 < schedule.shape.chunks())
    found.push_back({Phase::Backward, chunk + 1, j});
  return found;
}

} // namespace tessera::pipeline
