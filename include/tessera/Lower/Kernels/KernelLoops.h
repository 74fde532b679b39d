//===- KernelLoops.h - the loops of a kernel --------------------*- C++ -*-===//
// A kernel is a sequence of phases. A phase is one loop over the inner
// dimension; what later phases need of it is stored and reloaded, spilled or
// recomputed.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LOWER_KERNELS_KERNELLOOPS_H
#define TESSERA_LOWER_KERNELS_KERNELLOOPS_H

#include "tessera/Lower/Kernels/Kernel.h"

namespace tessera {

struct LoopPhase {
  /// Ops over the outer dimension alone, evaluated before the loop.
  llvm::SmallVector<mlir::linalg::GenericOp> before;
  /// Ops evaluated at every step of the loop, in program order.
  llvm::SmallVector<mlir::linalg::GenericOp> inner;
  llvm::SmallVector<Reduction> reductions;
  /// Those along columns in a kernel of rows: they go on from row to row.
  llvm::SmallVector<Reduction> columnReductions;
  /// Numbers of the 2-D results that the loop stores.
  llvm::SmallVector<unsigned> stores;
  /// Values that the loop keeps in the row scratch for a later phase.
  llvm::SmallVector<mlir::Value> spills;
  /// Arguments, and values of earlier phases, that the loop loads.
  llvm::DenseSet<mlir::Value> reads, reloads;

  bool hasLoop() const {
    return !reductions.empty() || !columnReductions.empty() ||
           !stores.empty() || !spills.empty();
  }
};

struct KernelLoops {
  /// Ops on scalars, evaluated once.
  llvm::SmallVector<mlir::linalg::GenericOp> uniform;
  llvm::SmallVector<LoopPhase, 2> phases;
};

/// Cheap values are recomputed in later phases; others are spilled while the
/// scratch of a row stays below 128 KiB.
KernelLoops planLoops(const Kernel &kernel);

/// Returns the number of vector operations that one step of `ops` costs,
/// roughly.
unsigned stepCost(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

} // namespace tessera

#endif // TESSERA_LOWER_KERNELS_KERNELLOOPS_H
