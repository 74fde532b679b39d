//===- Schedule.h - what each pipeline stage does when ----------*- C++ -*-===//
// A model is cut into stages * virtualStages chunks; chunk c lives at stage
// c mod stages. A schedule is the order of the tasks of every stage. This
// library knows nothing of programs: only chunks and micro-batches.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SCHEDULE_SCHEDULE_H
#define TESSERA_SCHEDULE_SCHEDULE_H

#include "tessera/Options/ScheduleKind.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::pipeline {

/// Backward: gradients, or of activations only where Weights tasks make those
/// of parameters.
enum class Phase { Forward, Backward, Weights };
/// "F", "B", "W".
const char *phaseName(Phase phase);

struct Task {
  Phase phase = Phase::Forward;
  int64_t chunk = 0, microBatch = 0;

  bool operator==(const Task &other) const {
    return phase == other.phase && chunk == other.chunk &&
           microBatch == other.microBatch;
  }
  bool operator<(const Task &other) const;
  /// "F2.0": the third micro-batch of the first chunk.
  std::string str() const;
};

using Kind = ScheduleKind;
/// "gpipe", "1f1b", "interleaved", "zero-bubble".
const char *kindName(Kind kind);
std::optional<Kind> kindFromName(const std::string &name);

struct Shape {
  int64_t stages = 1, virtualStages = 1, microBatches = 1;

  int64_t chunks() const { return stages * virtualStages; }
  int64_t stageOf(int64_t chunk) const { return chunk % stages; }
};

struct Schedule {
  Kind kind = Kind::GPipe;
  Shape shape;
  std::vector<std::vector<Task>> stages; ///< Tasks of each stage, in order.

  bool splitsBackward() const { return kind == Kind::ZeroBubble; }
};

/// Why a schedule of this kind cannot have this shape, with the remedy; "" if
/// it can. Sizes below 1 are the caller's error.
std::string checkShape(Kind kind, const Shape &shape);

/// The schedule; `checkShape` accepts the shape. Any number of micro-batches
/// is possible, also fewer than stages.
Schedule makeSchedule(Kind kind, const Shape &shape);

/// What must have ended before a task can start, besides the earlier tasks of
/// its stage.
std::vector<Task> dependencies(const Schedule &schedule, const Task &task);

} // namespace tessera::pipeline

#endif // TESSERA_SCHEDULE_SCHEDULE_H
