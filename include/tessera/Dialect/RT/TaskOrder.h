//===- TaskOrder.h - the order of a pipeline stage's tasks ------*- C++ -*-===//
// A task is lowered once for all micro-batches but the last. What a stage runs
// in a step is a list of tasks, each with a micro-batch.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_TASKORDER_H
#define TESSERA_DIALECT_RT_TASKORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/RT/RT.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tessera::rt {

/// Returns whether an op bounds a task: nothing moves over it but by a pass
/// that knows tasks.
bool isTaskBorder(mlir::Operation *op);

/// Returns whether no border stands between an op and a later one of its block.
/// Looks at all ops in between.
bool isInOneTask(mlir::Operation *op, mlir::Operation *later);

/// A task's number (`rt.task`) with a micro-batch: an entry of `rt.order`.
struct NumberedTask {
  int64_t number = 0, microBatch = 0;
};
llvm::SmallVector<NumberedTask> orderOf(mlir::func::FuncOp step);
void setOrder(mlir::func::FuncOp step, llvm::ArrayRef<NumberedTask> order);

/// The tasks of a step, taken apart.
class TaskOrder {
public:
  /// Finds the order of a step; nullopt for a step without tasks. Emits an
  /// error unless every task runs once for every micro-batch: the tasks of a
  /// micro-batch in the order in which they stand, and a task for one
  /// micro-batch after the other. So what a task reads of its micro-batch, or
  /// of the sums of earlier ones, is there.
  static mlir::FailureOr<std::optional<TaskOrder>> of(mlir::func::FuncOp step);

  /// The ops of one task in the loop, or of the last micro-batch.
  struct Part {
    TaskOp begin;
    bool inLoop = false;
    mlir::Block::iterator first() const;
    mlir::Block::iterator end() const;
  };
  llvm::ArrayRef<Part> parts() const { return all; }
  /// Returns the loop over micro-batches; null if there is one.
  LoopOp getLoop() const { return loop; }
  /// Returns how many micro-batches the loop has.
  int64_t microBatchesOfLoop() const;

  struct Entry {
    int64_t part = 0, microBatch = 0;
  };
  llvm::ArrayRef<Entry> entries() const { return order; }
  /// Returns when a part runs for a micro-batch; one outside of the loop runs
  /// once.
  int64_t timeOf(int64_t part, int64_t microBatch) const;
  int64_t firstTimeOf(int64_t part) const { return times[part].front(); }
  int64_t lastTimeOf(int64_t part) const { return times[part].back(); }

  /// Returns the part of an op; -1: it is in no task.
  int64_t partOf(mlir::Operation *op) const;

private:
  mlir::LogicalResult build(mlir::func::FuncOp step);
  void collect(mlir::Block &block);
  mlir::LogicalResult addEntries(mlir::func::FuncOp step);
  mlir::LogicalResult checkTimes(mlir::func::FuncOp step) const;
  mlir::Operation *findReader(mlir::Value value,
                              llvm::function_ref<bool(int64_t)> may) const;
  mlir::LogicalResult checkSums() const;
  mlir::LogicalResult checkBetween(mlir::func::FuncOp step) const;

  LoopOp loop;
  llvm::SmallVector<Part> all;
  llvm::SmallVector<Entry> order;
  llvm::SmallVector<llvm::SmallVector<int64_t>> times; ///< Indexed by part.
  llvm::DenseMap<mlir::Operation *, int64_t> partsOfOps;
};

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// Values that cross from task to task lie in a frame, of which every
/// micro-batch has its own. Their offset counts from the frame's begin and has
/// the frame's number, from 1, in the bits above those of every arena.
inline constexpr int kFrameShift = 50;
inline int64_t frameOf(int64_t offset) { return offset >> kFrameShift; }
inline int64_t offsetInFrame(int64_t offset) {
  return offset & ((int64_t(1) << kFrameShift) - 1);
}

/// Returns where frame `number` (from 1) of each micro-batch of the loop
/// begins.
llvm::ArrayRef<int64_t> frameOffsets(mlir::func::FuncOp step, int64_t number);
int64_t countFrames(mlir::func::FuncOp step);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_TASKORDER_H
