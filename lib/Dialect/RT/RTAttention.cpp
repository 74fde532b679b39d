//===- RTAttention.cpp - attention and its gradient -----------------------===//

#include "lib/Dialect/RT/AttentionShapes.h"
#include "lib/Dialect/RT/DescribeCall.h"
#include "lib/Dialect/RT/Segments.h"
#include "mlir/IR/TypeUtilities.h"
#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

void tessera::rt::describeAttention(Operation *op, Value query, Value key,
                                    program::Call &call) {
  describeCall(op, call);
  auto type = cast<RankedTensorType>(query.getType());
  int64_t size = type.getShape().back();
  call.kind = program::CallKind::Attention;
  call.shape = {type.getNumElements() / size,
                cast<RankedTensorType>(key.getType()).getDimSize(1), size};
  call.bytes = 0;
}

void AttentionOp::describe(program::Call &call) {
  describeAttention(*this, getQuery(), getKey(), call);
}

void AttentionGradOp::describe(program::Call &call) {
  describeAttention(*this, getQuery(), getKey(), call);
  call.kind = program::CallKind::AttentionGradient;
}

int64_t AttentionOp::getOperandStride(unsigned operand) {
  switch (operand) {
  case 0:
    return getRowQ();
  case 1:
    return getRowK();
  case 2:
    return getRowV();
  default:
    return 0;
  }
}

int64_t AttentionGradOp::getOperandStride(unsigned operand) {
  switch (operand) {
  case 1:
    return getRowQ();
  case 2:
    return getRowK();
  case 3:
    return getRowV();
  default:
    return 0;
  }
}

int64_t AttentionGradOp::getResultStride(unsigned result) {
  constexpr unsigned biasTable = 3;
  if (result == biasTable)
    return 0;
  const uint64_t strides[] = {getRowDq(), getRowDk(), getRowDv()};
  auto type = cast<RankedTensorType>(getResult(result).getType());
  int64_t row =
      type.getNumElements() / (type.getDimSize(0) * type.getDimSize(1));
  int64_t stride = strides[result];
  return stride == row ? 0 : stride;
}

template <typename OpTy> static int64_t flopsOf(OpTy op, int64_t products) {
  return nn::attentionFlops(op.getQuery(), op.getKey(),
                            op.getAttention().getMask(), products);
}

int64_t AttentionOp::getFlops() { return flopsOf(*this, 2); }

int64_t AttentionGradOp::getFlops() { return flopsOf(*this, 5); }

/// Queries, keys and values are [batch, sequence, heads, head size]; what
/// queries have may be grouped by key heads.
static LogicalResult verifyHeads(Operation *op, ValueRange tensors) {
  for (Value tensor : tensors) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() != 4 && type.getRank() != 5)
      return op->emitOpError()
             << "has an operand or result of rank " << type.getRank()
             << "; it must be 4: batch, sequence, heads, head size, or 5 with "
                "groups of heads";
  }
  return success();
}

/// The runtime reads and adds biases in the type of the scores.
static LogicalResult verifyBias(Operation *op, Value table, Value lse) {
  if (!table || getElementTypeOrSelf(table.getType()) ==
                    getElementTypeOrSelf(lse.getType()))
    return success();
  return op->emitOpError() << "has biases of type " << table.getType()
                           << "; their elements must be those of lse, "
                           << getElementTypeOrSelf(lse.getType());
}

LogicalResult tessera::rt::verifySegments(Operation *op,
                                          const SegmentShape &shape,
                                          Value ofQueries, Value ofKeys) {
  if (!ofQueries && !ofKeys)
    return success();
  auto is = [&](Value segments, int64_t positions) {
    return segments && cast<RankedTensorType>(segments.getType()).getShape() ==
                           ArrayRef<int64_t>{shape.batch, positions};
  };
  if (is(ofQueries, shape.queries) && is(ofKeys, shape.keys))
    return success();
  return op->emitOpError() << "needs segments of " << shape.batch << " x "
                           << shape.queries << " queries and of " << shape.batch
                           << " x " << shape.keys << " keys, or none";
}

template <typename OpTy> static LogicalResult verifySegments(OpTy op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto key = cast<RankedTensorType>(op.getKey().getType());
  return verifySegments(
      op, {query.getDimSize(0), query.getDimSize(1), key.getDimSize(1)},
      op.getQuerySegments(), op.getKeySegments());
}

/// Emits an error unless a table of biases has a gradient of its shape.
static LogicalResult verifyTables(AttentionGradOp op) {
  Value table = op.getBiasTable(), grad = op.getGradBiasTable();
  if (!table != !grad)
    return op.emitOpError() << "has a table of biases or its gradient alone; "
                               "give both or none";
  return table ? verifyShape(op, {"gradients of biases", grad},
                             cast<RankedTensorType>(table.getType()).getShape())
               : success();
}

/// Checks the distances between rows of query, key and value.
template <typename OpTy> static LogicalResult verifyStrides(OpTy op) {
  if (failed(verifyStride(op, {"queries", op.getQuery()}, op.getRowQ())) ||
      failed(verifyStride(op, {"keys", op.getKey()}, op.getRowK())))
    return failure();
  return verifyStride(op, {"values", op.getValue()}, op.getRowV());
}

/// Checks the distances between rows of their gradients.
static LogicalResult verifyGradientStrides(AttentionGradOp op) {
  NamedTensor query{"gradients of queries", op.getGradQuery()};
  NamedTensor key{"gradients of keys", op.getGradKey()};
  NamedTensor value{"gradients of values", op.getGradValue()};
  if (failed(verifyStride(op, query, op.getRowDq())) ||
      failed(verifyStride(op, key, op.getRowDk())))
    return failure();
  return verifyStride(op, value, op.getRowDv());
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyBias(*this, getBiasTable(), getLse())) ||
      failed(nn::verifyBiasTable(*this, getAttention(), getQuery(),
                                 getBiasTable())))
    return failure();
  if (failed(
          verifyHeads(*this, {getQuery(), getKey(), getValue(), getOutput()})))
    return failure();
  if (failed(verifyAttention(*this, {getQuery(),
                                     getKey(),
                                     getValue(),
                                     getLse(),
                                     getBiasTable(),
                                     {{"outputs", getOutput()}},
                                     {}})) ||
      failed(verifyStrides(*this)))
    return failure();
  return ::verifySegments(*this);
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyBias(*this, getBiasTable(), getLse())) ||
      failed(verifyBias(*this, getGradBiasTable(), getLse())) ||
      failed(nn::verifyBiasTable(*this, getAttention(), getQuery(),
                                 getBiasTable())))
    return failure();
  if (failed(
          verifyHeads(*this, {getQuery(), getKey(), getValue(), getOutput(),
                              getGradQuery(), getGradKey(), getGradValue()})))
    return failure();
  AttentionShapes shapes = {getQuery(), getKey(), getValue(), getLse(),
                            getBiasTable()};
  shapes.likeQuery = {{"gradients of outputs", getGrad()},
                      {"outputs", getOutput()},
                      {"gradients of queries", getGradQuery()}};
  shapes.likeKey = {{"gradients of keys", getGradKey()},
                    {"gradients of values", getGradValue()}};
  if (failed(verifyAttention(*this, shapes)) || failed(verifyStrides(*this)) ||
      failed(verifyGradientStrides(*this)) || failed(verifyTables(*this)))
    return failure();
  return ::verifySegments(*this);
}
