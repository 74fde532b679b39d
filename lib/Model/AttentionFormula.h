//===- AttentionFormula.h - attention of products, sums, maps ---*- C++ -*-===//
// It computes the scores of every query and every key of the batch at once. A
// mask leaves those of one sequence and one head.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MODEL_ATTENTIONFORMULA_H
#define TESSERA_LIB_MODEL_ATTENTIONFORMULA_H

#include "lib/Model/Formulas.h"

namespace tessera {

class AttentionFormulas {
public:
  explicit AttentionFormulas(Formulas &formulas) : f(formulas) {}

  /// Returns the number of scores of an attention.
  static int64_t scoresOf(nn::AttentionOp op);
  /// Computes the op's output from its operands.
  mlir::Value build(nn::AttentionOp op);

private:
  struct Shape;
  mlir::Value visible(nn::AttentionOp op, const Shape &shape);
  mlir::Value sameSegment(nn::AttentionOp op, const Shape &shape,
                          mlir::Value seen);
  mlir::Value probabilities(const Shape &shape, mlir::Value scores,
                            mlir::Value seen);
  mlir::Value biases(nn::AttentionOp op, const Shape &shape);
  mlir::Value bucketsOf(nn::AttentionOp op, const Shape &shape);
  mlir::Value kept(nn::AttentionOp op, const Shape &shape);

  Formulas &f;
  /// Holds the masks built so far, by the type of their elements and all that
  /// decides what queries see.
  std::map<std::pair<const void *, std::vector<int64_t>>, mlir::Value> masks;
};

} // namespace tessera

#endif // TESSERA_LIB_MODEL_ATTENTIONFORMULA_H
