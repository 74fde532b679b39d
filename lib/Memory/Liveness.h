//===- Liveness.h - program order and last uses -----------------*- C++ -*-===//
// Positions of the ops of a lowered program in program order, and how long each
// value is needed. What a loop reads from outside it needs until its end.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_LIVENESS_H
#define TESSERA_LIB_MEMORY_LIVENESS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::rt {

class Liveness {
public:
  explicit Liveness(mlir::func::FuncOp func);

  int64_t positionOf(mlir::Operation *op) const { return positions.at(op); }
  /// Position of the return: what is needed then is needed after the step.
  int64_t end() const { return last; }
  /// Position of the last op inside `op`; its own if it has no body.
  int64_t endOf(mlir::Operation *op) const;
  /// Returns when the value is written: its op's position, a loop result's end.
  int64_t begin(mlir::Value value) const;
  /// Returns the last position that reads the value, `begin` if none does;
  /// `end()` if the program keeps it.
  int64_t lastUse(mlir::Value value) const;

private:
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  int64_t last = 0;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_LIVENESS_H
