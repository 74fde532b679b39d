//===- CheckTasks.h - what tasks leave for each other -----------*- C++ -*-===//
// The checker of a program sees the tasks of one micro-batch after the other,
// each frame in an address space of its own. This runs the tasks in the order
// of the step, with frames where they are, and looks only at what crosses
// tasks.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_CHECKTASKS_H
#define TESSERA_LIB_MEMORY_CHECKTASKS_H

#include "lib/Memory/AbstractArena.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::rt {

class TaskChecker {
public:
  TaskChecker(mlir::func::FuncOp step, const TaskOrder &order,
              int64_t arenaBytes)
      : step(step), order(order), arenaBytes(arenaBytes) {}

  /// Emits an error where a task reads what another one has overwritten.
  mlir::LogicalResult run();

private:
  /// Bytes, and what must be in them: the content of a value, or 0 where no
  /// other task reads what is written.
  struct Access {
    ByteRange bytes;
    int64_t content;
    mlir::Operation *op;
  };
  struct PartUse {
    llvm::SmallVector<Access> reads, writes;
    llvm::SmallVector<int64_t> frames; ///< Numbers, from 1.
  };
  /// A frame is there from its first task to its last.
  struct Frame {
    llvm::ArrayRef<int64_t> offsets; ///< One for each micro-batch.
    int64_t bytes = 0;
    int64_t firstPart = INT64_MAX;
  };

  void joinContents();
  void joinLoop(LoopOp loop);
  int64_t contentOf(mlir::Value value);
  int64_t contentOfFrame(int64_t frame, int64_t microBatch) const;
  ByteRange bytesOf(mlir::Value value) const;
  bool isReadElsewhere(mlir::Value value, int64_t part) const;
  void collectPart(int64_t part);
  void addRead(int64_t part, mlir::Operation *op, mlir::Value value);
  void addWrite(int64_t part, mlir::Value value);
  void addFrame(int64_t part, mlir::Value value);
  void collectAround();
  mlir::LogicalResult checkBounds();
  mlir::LogicalResult checkConstants();

  ByteRange rangeOf(int64_t frame, int64_t microBatch) const;
  mlir::LogicalResult runEntry(TaskOrder::Entry entry);
  mlir::LogicalResult checkFrames(TaskOrder::Entry entry);
  mlir::LogicalResult check(ByteRange bytes, int64_t content,
                            TaskOrder::Entry entry, mlir::Operation *reader);

  mlir::func::FuncOp step;
  const TaskOrder &order;
  int64_t arenaBytes;
  llvm::EquivalenceClasses<void *> same; ///< Values of one content.
  llvm::DenseMap<void *, int64_t> contents;
  llvm::SmallVector<PartUse> uses; ///< One for each part.
  llvm::SmallVector<Frame> frames; ///< Indexed by number, from 0.
  llvm::SmallVector<Access> before, after;
  AbstractArena arena;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_CHECKTASKS_H
