//===- Marks.h - phase and tag of an op -------------------------*- C++ -*-===//
// `nn.phase` says to which part of the training step an op belongs, `nn.tag`
// what it is to the strategies (NNMarks.td).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_MARKS_H
#define TESSERA_DIALECT_NN_MARKS_H

#include "tessera/Dialect/NN/NN.h"

namespace tessera::nn {

/// Returns the phase of the op or of the nearest op around it that has one.
Phase phaseOf(mlir::Operation *op);
void setPhase(mlir::Operation *op, Phase phase);

/// Gives `to`, which is made on the way to `from` or in its place, the same
/// phase.
void inheritPhase(mlir::Operation *to, mlir::Operation *from);

inline bool isForward(mlir::Operation *op) {
  return phaseOf(op) == Phase::Forward;
}

inline bool isRecomputed(mlir::Operation *op) {
  return phaseOf(op) == Phase::Recompute;
}

bool hasTag(mlir::Operation *op, Tag tag);
void setTag(mlir::Operation *op, Tag tag);

/// Returns the op that makes a model's last hidden states: for an
/// encoder-decoder model those of its encoder, else the last value of the
/// residual stream. Null: no op has such a tag.
mlir::Operation *findHiddenStates(mlir::Block &model);

/// nn-decompose-layers sets this attribute. On an op that it made it is a unit,
/// except where the op's result replaces that of another op: there it holds the
/// name of that op, `of`, and its number of `results`. On the module it says
/// how many ops are `replaced`, and why others stay `whole`.
inline constexpr llvm::StringLiteral kFormulaAttr = "nn.formula";

/// Returns whether an op adds gradients of one value, as nn-differentiate does:
/// an `nn.add` of backward whose terms have one shape and no coefficients. The
/// order of the terms depends on which of them a pipeline stage has.
bool isGradientSum(mlir::Operation *op);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_MARKS_H
