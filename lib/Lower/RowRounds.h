//===- RowRounds.h - a layer's work on rows of experts ----------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_ROWROUNDS_H
#define TESSERA_LIB_LOWER_ROWROUNDS_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RT.h"
#include <deque>

namespace tessera {

/// The ops on the rows that one routing brings to a rank's experts, between
/// exchanges: forward, and on the same rows backward.
struct RowWork {
  llvm::SmallVector<mlir::Operation *> ops; ///< In the order of the block.
  llvm::SmallVector<rt::ExchangeRowsOp> exchangesIn;
  int64_t rows = 0;     ///< Room for all that a router can send.
  double evenShare = 0; ///< Rows, if every expert gets the same number.

  /// Returns the number of ranks between which rows are exchanged.
  int64_t ranks() const;

  /// Returns whether an op makes something else than rows of experts: what goes
  /// back, gradients of weights, and what verify keeps.
  static bool isFinal(mlir::Operation *op);

  using Ops = llvm::SmallVector<mlir::Operation *>;
  /// Returns the final ops of a phase, by tasks of a pipeline stage.
  llvm::SmallVector<Ops> finalsOf(nn::Phase phase) const;
  /// Returns some of the ops, and those that make their operands.
  llvm::SmallVector<mlir::Operation *>
  sliceOf(llvm::ArrayRef<mlir::Operation *> finals) const;
  /// Moves what uses the results of `finals` behind the last of them.
  mlir::LogicalResult
  makeRoomAfter(llvm::ArrayRef<mlir::Operation *> finals) const;
};

/// Finds every layer's work on compact rows that are exchanged.
std::deque<RowWork> findRowWork(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_ROWROUNDS_H
