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

LogicalResult CachedAttentionOp::verify() {
  auto query = cast<RankedTensorType>(getQuery().getType());
  int64_t columns = query.getShape().back() + getWeighted();
  if (cast<RankedTensorType>(getType()).getShape().back() == columns)
    return success();
  return emitOpError() << "makes " << getType() << " of heads " << query
                       << "; the last dimension must be " << columns;
}

int64_t CachedAttentionOp::getFlops() {
  return nn::cachedAttentionFlops(getQuery(), getKeys(),
                                  static_cast<int64_t>(getWindow()));
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t MergeMeansOp::getRanks() {
  return shapeOf(getParts()).front() / shapeOf(getResult()).front();
}

bool MergeMeansOp::keepsWeights() {
  return shapeOf(getParts()).back() == shapeOf(getResult()).back();
}

LogicalResult MergeMeansOp::verify() {
  ArrayRef<int64_t> parts = shapeOf(getParts()), whole = shapeOf(getResult());
  bool isAlike =
      parts.size() == whole.size() && whole.size() >= 2 && whole.front() > 0 &&
      parts.front() % whole.front() == 0 &&
      parts.drop_front().drop_back() == whole.drop_front().drop_back() &&
      (parts.back() == whole.back() || parts.back() == whole.back() + 1);
  if (isAlike)
    return success();
  return emitOpError() << "makes " << getType() << " of "
                       << getParts().getType()
                       << "; dimension 0 must be a part's, and the last one "
                          "with its weight or without";
}
