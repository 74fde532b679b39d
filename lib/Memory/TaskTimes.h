//===- TaskTimes.h - when a step with tasks needs its buffers ---*- C++ -*-===//
// Tasks do not run in the order in which they stand, and those of the loop run
// many times. So buffers are of three kinds: what only one task uses, what
// crosses the tasks of one micro-batch, and the rest, which there is once.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_TASKTIMES_H
#define TESSERA_LIB_MEMORY_TASKTIMES_H

#include "lib/Memory/Buffers.h"
#include "tessera/Dialect/RT/TaskOrder.h"

namespace tessera::rt {

/// Who uses a buffer, and when.
struct BufferUse {
  enum Kind {
    Once,    ///< From `begin` to `end`, in times of the step.
    OfTask,  ///< Only task `first` uses it.
    OfFrame, ///< From task `first` to task `last` of one micro-batch.
  } kind = Once;
  int64_t begin = 0, end = 0;
  int64_t first = -1, last = -1;
};

/// Times of a step: a position before the tasks, an entry of the order, or a
/// position after them.
class TaskTimes {
public:
  /// Without tasks, times are positions.
  TaskTimes(const Liveness &live, const TaskOrder *order);

  BufferUse useOf(const Buffer &buffer) const;
  /// Returns the time of an entry of the order.
  int64_t timeOf(int64_t entry) const { return start + 1 + entry; }
  /// Returns the positions where a task begins and ends.
  int64_t positionOf(int64_t task) const;
  int64_t endOf(int64_t task) const;

private:
  struct Span;
  void addUse(Span &span, mlir::Operation *op) const;
  int64_t timeOutside(int64_t position) const;

  const Liveness &live;
  const TaskOrder *order;
  int64_t start = 0, end = 0; ///< Positions around the tasks.
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_TASKTIMES_H
