//===- TaskRuns.h - an order of tasks in few words --------------*- C++ -*-===//
// The tasks of a stage repeat: in the steady state of 1f1b a few tasks, for one
// micro-batch after the other. As each task takes the micro-batches in order
// (TaskOrder.h), the tasks alone say which micro-batch an entry is for, and the
// artifact writes them as runs. So its size does not grow with micro-batches.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_TASKRUNS_H
#define TESSERA_DIALECT_RT_TASKRUNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tessera::rt {

class TaskOrder;

/// Tasks that run one after the other, all of them `times` times.
struct TaskRun {
  int64_t times = 1;
  llvm::SmallVector<int64_t> parts; ///< Numbered as in a TaskOrder.
};

/// One after the other, these are the list.
llvm::SmallVector<TaskRun> runsOf(llvm::ArrayRef<int64_t> parts);
llvm::SmallVector<TaskRun> runsOf(const TaskOrder &order);

/// The end of a list that repeats: number k is that of `first + (k - first) %
/// values`, from `first` on.
struct Period {
  int64_t first = 0, values = 0;
  int64_t stored() const { return first + values; }
};

/// Returns the one with the fewest values to store; all of them if nothing
/// repeats.
Period periodOf(llvm::ArrayRef<int64_t> values);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_TASKRUNS_H
