//===- OtherAttention.h - an attention with one field changed ---*- C++ -*-===//

#ifndef TESSERA_TEST_DIALECT_NN_OTHERATTENTION_H
#define TESSERA_TEST_DIALECT_NN_OTHERATTENTION_H

#include "mlir/IR/Operation.h"
#include "tessera/Dialect/NN/NNAttributes.h"

namespace tessera::test {

inline nn::AttentionAttr attentionOf(mlir::Operation *op) {
  return op->getAttrOfType<nn::AttentionAttr>("attention");
}

inline void setAttention(mlir::Operation *op, nn::AttentionAttr attention) {
  op->setAttr("attention", attention);
}

inline nn::AttentionAttr withScale(nn::AttentionAttr own, double scale) {
  return nn::AttentionAttr::get(own.getContext(), own.getCausal(),
                                llvm::APFloat(scale), own.getWindow(),
                                own.getMaxDistance());
}

inline nn::AttentionAttr withMaxDistance(nn::AttentionAttr own,
                                         int64_t distance) {
  return nn::AttentionAttr::get(own.getContext(), own.getCausal(),
                                own.getScale(), own.getWindow(), distance);
}

/// Returns a causal attention with a window, or without one if it is 0.
inline nn::AttentionAttr withWindow(nn::AttentionAttr own, int64_t window) {
  return own.withMask({/*causal=*/true, window});
}

} // namespace tessera::test

#endif // TESSERA_TEST_DIALECT_NN_OTHERATTENTION_H
