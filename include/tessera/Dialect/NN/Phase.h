//===- Phase.h - which part of the training step an op belongs to ---------===//
// `nn.phase`, on nn ops and on what they are lowered to: absent in the forward
// program, else "backward", "recompute" or "optimizer".
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_PHASE_H
#define TESSERA_DIALECT_NN_PHASE_H

#include "mlir/IR/Operation.h"

namespace tessera::nn {

constexpr llvm::StringLiteral kBackwardPhase = "backward";
/// Forward work done again in backward. It also keeps such an op different from
/// the one that it repeats, so that CSE does not merge the two.
constexpr llvm::StringLiteral kRecomputePhase = "recompute";

/// Of the op or of the nearest op around it; "" in the forward program.
llvm::StringRef phaseOf(mlir::Operation *op);

/// What is made on the way to `from`, or in its place, is of the same phase.
void inheritPhase(mlir::Operation *to, mlir::Operation *from);

inline bool isForward(mlir::Operation *op) { return phaseOf(op).empty(); }

inline bool isRecomputed(mlir::Operation *op) {
  return phaseOf(op) == kRecomputePhase;
}

/// An `nn.add` of backward whose terms have one shape and no coefficients: of
/// gradients of one value, as nn-differentiate makes them. In which order they
/// are added depends on which of them a pipeline stage has.
bool isGradientSum(mlir::Operation *op);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_PHASE_H
