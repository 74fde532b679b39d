//===- NNStructure.cpp - the micro-batch loop -----------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;

/// Returns the type of one micro-batch: dimension 0 disappears, its neighbours
/// keep their distribution.
static RankedTensorType sliceType(RankedTensorType whole) {
  auto slice = RankedTensorType::get(whole.getShape().drop_front(),
                                     whole.getElementType());
  auto sharding = dyn_cast_or_null<dist::ShardingAttr>(whole.getEncoding());
  if (!sharding)
    return slice;
  for (dist::AxisState s : sharding.getStates()) {
    if (s.state.isSharded())
      --s.state.where;
    slice = dist::withState(slice, s.axis, s.state);
  }
  return slice;
}

static LogicalResult verifySlice(MicroBatchesOp op, Value whole, Value slice) {
  auto type = cast<RankedTensorType>(whole.getType());
  auto part = cast<RankedTensorType>(slice.getType());
  if (type.getRank() == 0 ||
      type.getDimSize(0) != static_cast<int64_t>(op.getCount()))
    return op.emitOpError() << "runs " << op.getCount()
                            << " micro-batches, but its data is " << type;
  for (StringAttr axis : dist::axesOf(type, 0))
    return op.emitOpError()
           << "has data of type " << type << ", but axis '" << axis.getValue()
           << "' must not shard dimension 0, which counts "
              "micro-batches";
  if (sliceType(type) != part)
    return op.emitOpError() << "passes " << part << " of " << type
                            << "; it must be " << sliceType(type);
  return success();
}

LogicalResult MicroBatchesOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getData().size())
    return emitOpError() << "has " << getData().size() << " operands and "
                         << block.getNumArguments() << " block arguments";
  for (auto [whole, slice] : llvm::zip(getData(), block.getArguments()))
    if (failed(verifySlice(*this, whole, slice)))
      return failure();
  // A trait refuses other terminators after this.
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (yield && yield.getOperandTypes() != getResultTypes())
    return emitOpError() << "yields (" << yield.getOperandTypes()
                         << "), but returns (" << getResultTypes() << ")";
  return success();
}
