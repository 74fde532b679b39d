//===- AttentionOperands.cpp - where attention's operands lie -------------===//

#include "lib/Lower/AttentionOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

/// Returns the global index of the op's first sequence.
Value tessera::batchStart(OpBuilder &builder, Operation *op,
                          int64_t localBatch) {
  std::optional<FactorSpan> span = spanOf(op, 'b');
  Value start = startOf(builder, op->getLoc(), span);
  Value index = microBatchOf(builder, op);
  if (!index)
    return start;
  Value rows = i64(builder, op->getLoc(), span ? span->total : localBatch);
  return arith::AddIOp::create(
      builder, op->getLoc(), start,
      arith::MulIOp::create(builder, op->getLoc(), index, rows));
}

/// Returns the elements of a position of [b, s, heads.., d].
int64_t tessera::rowElements(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() / (type.getDimSize(0) * type.getDimSize(1));
}

/// Returns the elements between consecutive positions of an operand.
int64_t tessera::rowStride(Value value) {
  int64_t row = rowElements(value);
  if (auto unstack = value.getDefiningOp<nn::UnstackOp>())
    return row * unstack.getNumResults();
  if (auto view = value.getDefiningOp<rt::ViewOp>())
    if (auto parts = view->getAttrOfType<IntegerAttr>("parts"))
      return row * parts.getInt();
  return row;
}

static bool isGrouped(Value query) {
  return cast<RankedTensorType>(query.getType()).getRank() == 5;
}

StringRef tessera::whyNotNeighbours(Operation *op, Value query, bool drops) {
  if (!drops || !isGrouped(query) || !spanOf(op, 'r'))
    return "";
  return "drops attention weights of query heads that are split within their "
         "groups; use a mesh axis no larger than the number of key heads, or "
         "no attention dropout";
}

HeadRange tessera::headRange(OpBuilder &b, Operation *op, Value query) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(query.getType()).getShape();
  Location loc = op->getLoc();
  auto totalOf = [&](char factor, int64_t local) {
    std::optional<FactorSpan> span = spanOf(op, factor);
    return span ? span->total : local;
  };
  if (!isGrouped(query))
    return {totalOf('n', shape[2]), startOf(b, loc, spanOf(op, 'n'))};
  int64_t queries = totalOf('r', shape[3]);
  std::optional<FactorSpan> groups = spanOf(op, 'g');
  if (groups)
    for (FactorSpan::Cut &cut : groups->cuts)
      cut.chunk *= queries;
  return {queries * totalOf('g', shape[2]), startOf(b, loc, groups)};
}
