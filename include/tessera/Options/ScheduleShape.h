//===- ScheduleShape.h - sizes of a schedule of stages ----------*- C++ -*-===//
// It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_SCHEDULESHAPE_H
#define TESSERA_OPTIONS_SCHEDULESHAPE_H

#include "tessera/Options/ScheduleKind.h"
#include <cstdint>
#include <string>

namespace tessera::pipeline {

struct Shape {
  int64_t stages = 1, virtualStages = 1, microBatches = 1;

  int64_t chunks() const { return stages * virtualStages; }
  int64_t stageOf(int64_t chunk) const { return chunk % stages; }
  bool operator==(const Shape &other) const {
    return stages == other.stages && virtualStages == other.virtualStages &&
           microBatches == other.microBatches;
  }
};

/// The most micro-batches of all chunks together: each is a task or more, which
/// are kept and simulated one by one.
inline constexpr int64_t kMostParts = int64_t(1) << 18;

/// Returns why a schedule of this kind cannot have this shape, with the remedy,
/// or "". Sizes below 1 are the caller's error.
std::string checkShape(ScheduleKind kind, const Shape &shape);

} // namespace tessera::pipeline

#endif // TESSERA_OPTIONS_SCHEDULESHAPE_H
