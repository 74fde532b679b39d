//===- RTVerifiers.cpp - what ODS cannot say ------------------------------===//

#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera::rt;

LogicalResult GemmOp::verify() {
  if (getAccumulator() && getAccumulator().getType() != getC().getType())
    return emitOpError() << "accumulates " << getC().getType() << " into "
                         << getAccumulator().getType();
  return success();
}

/// Queries, keys and values are [batch, sequence, heads, head size].
static LogicalResult verifyHeads(Operation *op, ValueRange tensors) {
  for (Value tensor : tensors) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() != 4)
      return op->emitOpError()
             << "has an operand or result of rank " << type.getRank()
             << ", it must be 4: batch, sequence, heads, head size";
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  return verifyHeads(*this, {getQuery(), getKey(), getValue(), getOutput()});
}

LogicalResult AttentionGradOp::verify() {
  return verifyHeads(*this, {getQuery(), getKey(), getValue(), getOutput(),
                             getGradQuery(), getGradKey(), getGradValue()});
}

LogicalResult JoinOp::verify() {
  size_t offsets = getPartOffsets().size();
  if (offsets != getParts().size())
    return emitOpError() << "has " << getParts().size() << " parts and "
                         << offsets << " offsets";
  return success();
}

LogicalResult LoopOp::verify() {
  Block &body = getBody().front();
  TypeRange carried = getInits().getTypes();
  if (body.getNumArguments() == 0 ||
      !body.getArgument(0).getType().isInteger(64))
    return emitOpError() << "has no iteration number (i64) as first argument";
  SmallVector<Type> arguments(llvm::drop_begin(body.getArgumentTypes()));
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    if (types == carried)
      return success();
    return emitOpError() << "carries (" << carried << ") but " << what << " ("
                         << types << ")";
  };
  if (failed(check(arguments, "its body has")) ||
      failed(check(body.getTerminator()->getOperandTypes(), "yields")))
    return failure();
  return check(getResultTypes(), "returns");
}
