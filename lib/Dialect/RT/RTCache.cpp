//===- RTCache.cpp - append and attention over caches ---------------------===//

#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

OpOperand *AppendOp::getTiedOperand(unsigned) { return &getCacheMutable(); }

int64_t AppendOp::getOperandStride(unsigned operand) {
  return operand == getRowsMutable().getOperandNumber()
             ? static_cast<int64_t>(getRow())
             : 0;
}

int64_t CachedAttentionOp::getOperandStride(unsigned operand) {
  return operand == getQueryMutable().getOperandNumber()
             ? static_cast<int64_t>(getRow())
             : 0;
}

int64_t CachedAttentionOp::getFlops() {
  return nn::cachedAttentionFlops(getQuery(), getKeys(),
                                  static_cast<int64_t>(getWindow()));
}
