//===- TokenScores.h - how probable given next tokens are -------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_TOKENSCORES_H
#define TESSERA_DIALECT_NN_TOKENSCORES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// The scores of labels [b, s], each by the logits of its row; both are [b, s].
struct TokenScores {
  mlir::Value logProbability; ///< The log of the softmax at the label.
  mlir::Value rank; ///< Logits that come before the label's: 0 of the largest.
};

/// Emits serial nn ops that score `labels` by `logits` [b, s, v]: what a
/// cross-entropy consists of, so a split vocabulary is reduced by row. A
/// negative label names nothing, and its scores mean nothing.
TokenScores scoreLabels(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value logits, mlir::Value labels);

/// Returns the op of a serial `@loss` that reads its logits: the last nn.pick;
/// null if there is none.
nn::PickOp findPick(mlir::func::FuncOp loss);

} // namespace tessera

#endif // TESSERA_DIALECT_NN_TOKENSCORES_H
