//===- OpOrder.h - the order of a block's ops while they move ---*- C++ -*-===//
// MLIR numbers all ops of a block again when it is asked for their order after
// a move. A pass that moves and asks in turns would take quadratic time, so it
// asks this.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_OPORDER_H
#define TESSERA_DIALECT_RT_OPORDER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::rt {

/// Numbers ops with room in between; where there is no room left, only ops
/// nearby get other numbers (Bender et al. 2002, "Two simplified algorithms for
/// maintaining order in a list"). While it is in use, ops of its blocks are
/// moved and erased by it alone; ops may be created by anybody.
class OpOrder {
public:
  /// Returns whether `a` stands before `b`, which is in the same block.
  bool isBefore(mlir::Operation *a, mlir::Operation *b);
  void moveBefore(mlir::Operation *op, mlir::Operation *place);
  void moveAfter(mlir::Operation *op, mlir::Operation *place);
  void erase(mlir::Operation *op);

  /// Returns how many numbers were given: the work that was done.
  int64_t getWork() const { return work; }

private:
  struct Window;
  int64_t numberOf(mlir::Operation *op);
  void number(mlir::Operation *op);
  void spread(const Window &window);

  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  llvm::DenseSet<mlir::Block *> known;
  int64_t work = 0;
};

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_OPORDER_H
