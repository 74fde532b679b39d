//===- PipelineSchedule.h - tasks of each pipeline stage --------*- C++ -*-===//
// A model is cut into stages * virtualStages chunks; chunk c lives at stage
// c mod stages. A schedule is the order of the tasks of every stage. This
// library knows only chunks and micro-batches, and nothing of programs.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SCHEDULE_PIPELINESCHEDULE_H
#define TESSERA_SCHEDULE_PIPELINESCHEDULE_H

#include "tessera/Options/ScheduleShape.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::pipeline {

/// A Backward task makes all gradients of a chunk. Where there are Weights
/// tasks, these make the gradients of parameters, and it makes the others.
enum class TaskKind { Forward, Backward, Weights };
/// Returns "F", "B" or "W".
const char *taskKindName(TaskKind kind);

struct Task {
  TaskKind kind = TaskKind::Forward;
  int64_t chunk = 0, microBatch = 0;

  bool operator==(const Task &other) const {
    return kind == other.kind && chunk == other.chunk &&
           microBatch == other.microBatch;
  }
  bool operator<(const Task &other) const;
  /// Returns "F2.0" for the third micro-batch of the first chunk.
  std::string str() const;
};

struct PipelineSchedule {
  ScheduleKind kind = ScheduleKind::GPipe;
  Shape shape;
  std::vector<std::vector<Task>> stages; ///< Tasks of each stage, in order.

  bool splitsBackward() const { return kind == ScheduleKind::ZeroBubble; }
};

/// The schedule; `checkShape` accepts the shape. Any number of micro-batches
/// is possible, also fewer than stages.
PipelineSchedule makeSchedule(ScheduleKind kind, const Shape &shape);

/// Returns the tasks that must have ended before a task can start, besides the
/// earlier tasks of its stage.
std::vector<Task> dependencies(const PipelineSchedule &schedule,
                               const Task &task);

} // namespace tessera::pipeline

#endif // TESSERA_SCHEDULE_PIPELINESCHEDULE_H
