//===- StepMoments.h - what runs at the times of a step ---------*- C++ -*-===//

#ifndef TESSERA_LIB_MEMORY_STEPMOMENTS_H
#define TESSERA_LIB_MEMORY_STEPMOMENTS_H

#include "lib/Memory/ArenaOverStep.h"
#include "lib/Memory/TaskTimes.h"
#include <vector>

namespace tessera::rt {

/// Names for the times of TaskTimes: ops, and tasks where there are some.
class StepMoments {
public:
  /// Without tasks `order` is null.
  StepMoments(mlir::func::FuncOp func, const Liveness &live,
              const TaskTimes &times, const TaskOrder *order);

  int64_t end() const; ///< The last time.
  /// Returns the op that runs at a time; empty before the first op and at the
  /// return.
  Moment at(int64_t time) const;

private:
  std::string taskAt(int64_t number) const;

  const TaskOrder *order;
  std::vector<mlir::Operation *> ops; ///< Indexed by position.
  /// Times of the tasks, and the position behind them.
  int64_t first = 0, count = 0, after = 0;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_STEPMOMENTS_H
