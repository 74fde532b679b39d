//===- BufferCall.cpp - launches, fills and copies as calls ---------------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

namespace {

using Call = FailureOr<RuntimeCall>;

Call launch(rt::LaunchOp op) {
  RuntimeCall call(TSR_ENTRY_LAUNCH);
  call.kernel = op.getKernelAttr();
  llvm::append_range(call.buffers, op.getInputs());
  llvm::append_range(call.buffers, op.getOutputs());
  auto followers =
      op->getAttrOfType<IntegerAttr>(rt::RTDialect::kFollowersAttr);
  call.arguments = {static_cast<int64_t>(op.getCount()),
                    static_cast<int64_t>(op.getGrain()),
                    followers ? followers.getInt() : 0};
  for (Value scalar : op.getScalars())
    call.arguments.push_back(CallArgument::of(scalar));
  return call;
}

Call zero(rt::ZeroOp op) {
  RuntimeCall call(TSR_ENTRY_FILL);
  call.buffers = {op.getResult()};
  call.arguments = {CallArgument(rt::bytesOf(op.getResult()))};
  return call;
}

/// A copy goes between layouts with the same rows, or one side is contiguous.
Call copy(rt::CopyOp op) {
  rt::RowLayout from = rt::layoutOf(op.getInput());
  rt::RowLayout to = rt::layoutOf(op.getResult());
  if (!from.isContiguous() && !to.isContiguous() &&
      (from.rows != to.rows || from.rowElements != to.rowElements))
    return op.emitError() << "copies rows of " << from.rowElements
                          << " elements to rows of " << to.rowElements;
  const rt::RowLayout &rows = from.isContiguous() ? to : from;
  int64_t element = rt::elementBytesOf(op.getResult());
  auto strideOf = [&](const rt::RowLayout &layout) {
    return element * (layout.isContiguous() ? rows.rowElements : layout.stride);
  };
  RuntimeCall call(TSR_ENTRY_COPY);
  call.buffers = {op.getInput(), op.getResult()};
  call.arguments = {rows.rows, rows.rowElements * element, strideOf(from),
                    strideOf(to)};
  return call;
}

} // namespace

void tessera::attachBufferCalls(MLIRContext &context) {
  attachCall<rt::LaunchOp, launch>(context);
  attachCall<rt::ZeroOp, zero>(context);
  attachCall<rt::CopyOp, copy>(context);
}
