//===- RTCache.cpp - append and attention over caches ---------------------===//

#include "lib/Dialect/RT/AttentionShapes.h"
#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Dialect/NN/NN.h"
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

static ArrayRef<int64_t> sizesOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Emits an error unless rows are [lanes, rows, heads.., head size] of a cache
/// [lanes, slots, places, heads, head size], with a slot and a position each.
static LogicalResult verifyRows(Operation *op, const NamedTensor &rows,
                                const NamedTensor &cache, Value slots,
                                Value positions) {
  ArrayRef<int64_t> row = rows.shape(), of = cache.shape();
  if (of.size() != 5)
    return op->emitOpError() << "has " << cache.name << " of rank " << of.size()
                             << "; it must be 5: lanes, slots, places, heads, "
                                "head size";
  if (row.size() != 4 && row.size() != 5)
    return op->emitOpError() << "has " << rows.name << " of rank " << row.size()
                             << "; it must be 4: lanes, rows, heads, head "
                                "size, or 5 with groups of heads";
  if (failed(
          verifyShape(op, cache, {row[0], of[1], of[2], row[2], row.back()})) ||
      failed(verifyElementTypes(op, {rows, cache})) ||
      failed(verifyShape(op, {"slots", slots}, row.take_front(2))))
    return failure();
  return verifyShape(op, {"positions", positions}, row.take_front(2));
}

LogicalResult AppendOp::verify() {
  NamedTensor rows{"rows", getRows()}, cache{"a cache", getCache()};
  if (rows.shape().size() == 5)
    return emitOpError() << "has rows of rank 5; it must be 4: lanes, rows, "
                            "heads, head size";
  if (failed(verifyRows(*this, rows, cache, getSlots(), getPositions())))
    return failure();
  return verifyStride(*this, rows, getRow());
}

LogicalResult CachedAttentionOp::verify() {
  NamedTensor query{"queries", getQuery()}, keys{"keys", getKeys()};
  NamedTensor values{"values", getValues()};
  if (failed(verifyRows(*this, query, keys, getSlots(), getPositions())) ||
      failed(verifyShape(*this, values, keys.shape())) ||
      failed(verifyElementTypes(*this, {keys, values})) ||
      failed(verifyStride(*this, query, getRow())) ||
      failed(nn::verifyCausalBiasTable(*this, getAttention(), getQuery(),
                                       getBiasTable())))
    return failure();
  if (Value table = getBiasTable()) {
    NamedTensor biases{"a table of biases", table};
    int64_t buckets = biases.shape().empty() ? 0 : biases.shape()[0];
    if (failed(verifyShape(*this, biases, {buckets, query.shape()[2]})))
      return failure();
  }
  int64_t columns = query.shape().back() + getWeighted();
  ArrayRef<int64_t> made = sizesOf(getResult());
  if (made.drop_back() == query.shape().drop_back() && made.back() == columns)
    return success();
  return emitOpError() << "makes " << getType() << " of heads "
                       << getQuery().getType()
                       << "; the last dimension must be " << columns
                       << " and the others the same";
}

int64_t CachedAttentionOp::getFlops() {
  return nn::cachedAttentionFlops(getQuery(), getKeys(),
                                  getAttention().getMask());
}

int64_t MergeMeansOp::getRanks() {
  return sizesOf(getParts()).front() / sizesOf(getResult()).front();
}

bool MergeMeansOp::keepsWeights() {
  return sizesOf(getParts()).back() == sizesOf(getResult()).back();
}

LogicalResult MergeMeansOp::verify() {
  ArrayRef<int64_t> parts = sizesOf(getParts()), whole = sizesOf(getResult());
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
