//===- CollectiveCall.cpp - collectives and waits as calls ----------------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

namespace {

using Call = FailureOr<RuntimeCall>;

/// Returns mesh axes as bits.
FailureOr<int64_t> axisBits(Operation *op, ArrayAttr axes,
                            dist::MeshAttr mesh) {
  int64_t bits = 0;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    int64_t index = mesh ? mesh.getIndex(axis) : -1;
    if (index < 0)
      return op->emitError() << "runs over axis '" << axis.getValue()
                             << "', which the mesh does not have";
    bits |= int64_t(1) << index;
  }
  return bits;
}

/// A collective in which every rank gives or gets `outer` rows of `count`
/// elements.
Call collective(rt::CollectiveOpInterface op, int64_t entry, int64_t outer,
                int64_t count, dist::MeshAttr mesh) {
  FailureOr<int64_t> dtype = dtypeOf(op, op->getResult(0));
  FailureOr<int64_t> axes = axisBits(op, op.getAxes(), mesh);
  if (failed(dtype) || failed(axes))
    return failure();
  RuntimeCall call(entry);
  call.arguments[TSR_COLLECTIVE_AXES] = *axes;
  call.arguments[TSR_COLLECTIVE_COUNT] = count;
  call.arguments[TSR_COLLECTIVE_DTYPE] = *dtype;
  call.arguments[TSR_COLLECTIVE_REDUCTION] = TSR_REDUCE_SUM;
  call.arguments[TSR_COLLECTIVE_OUTER] = outer;
  call.arguments[TSR_COLLECTIVE_ASYNC] = op.getAsync();
  return call;
}

/// Describes a collective on all elements at once.
template <typename OpTy>
Call ofWhole(OpTy op, int64_t entry, dist::MeshAttr mesh) {
  return collective(op, entry, 1, typeOf(op.getResult()).getNumElements(),
                    mesh);
}

Call allReduce(rt::AllReduceOp op, dist::MeshAttr mesh) {
  Call call = ofWhole(op, TSR_ENTRY_ALL_REDUCE, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getResult()};
  if (op.getMaximum())
    call->arguments[TSR_COLLECTIVE_REDUCTION] = TSR_REDUCE_MAX;
  return call;
}

Call shift(rt::ShiftOp op, dist::MeshAttr mesh) {
  Call call = ofWhole(op, TSR_ENTRY_SHIFT, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getInput(), op.getResult()};
  call->arguments[TSR_COLLECTIVE_DISTANCE] = op.getDistance();
  return call;
}

/// The whole is [outer, 2, count].
Call zigzag(rt::ZigzagOp op, dist::MeshAttr mesh) {
  ArrayRef<int64_t> sizes = typeOf(op.getEarly()).getShape();
  int64_t outer = llvm::product_of(sizes.take_front(op.getDim()));
  int64_t count = llvm::product_of(sizes.drop_front(op.getDim()));
  Call call = collective(op, TSR_ENTRY_ZIGZAG, outer, count, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getWhole(), op.getEarly(), op.getLate()};
  call->arguments[TSR_COLLECTIVE_MAKES_WHOLE] = op.makesWhole();
  return call;
}

/// Returns the product of the sizes before a dimension.
int64_t outerOf(RankedTensorType type, int64_t dim) {
  return llvm::product_of(type.getShape().take_front(dim));
}

/// all_gather and reduce_scatter: a dimension of the whole is [ranks, chunk].
template <typename OpTy>
Call alongDimension(OpTy op, Value chunk, int64_t entry, dist::MeshAttr mesh) {
  RankedTensorType type = typeOf(chunk);
  int64_t outer = outerOf(type, op.getDim());
  int64_t count = outer ? type.getNumElements() / outer : 0;
  Call call = collective(op, entry, outer, count, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getInput(), op.getResult()};
  return call;
}

Call allGather(rt::AllGatherOp op, dist::MeshAttr mesh) {
  return alongDimension(op, op.getInput(), TSR_ENTRY_ALL_GATHER, mesh);
}

Call reduceScatter(rt::ReduceScatterOp op, dist::MeshAttr mesh) {
  return alongDimension(op, op.getResult(), TSR_ENTRY_REDUCE_SCATTER, mesh);
}

/// Describes a collective on the chunks of all members.
template <typename OpTy>
Call coalesced(OpTy op, ValueRange chunks, int64_t entry, dist::MeshAttr mesh) {
  int64_t all = 0;
  for (Value chunk : chunks)
    all += typeOf(chunk).getNumElements();
  Call call = collective(op, entry, 1, all, mesh);
  if (failed(call))
    return failure();
  llvm::append_range(call->buffers, op.getInputs());
  llvm::append_range(call->buffers, op.getOutputs());
  call->arguments[TSR_COALESCED_MEMBERS] = static_cast<int64_t>(chunks.size());
  for (auto [chunk, dim] : llvm::zip(chunks, op.getDims())) {
    FailureOr<int64_t> dtype = dtypeOf(op, chunk);
    if (failed(dtype))
      return failure();
    int64_t outer = outerOf(typeOf(chunk), dim);
    int64_t count = outer ? typeOf(chunk).getNumElements() / outer : 0;
    call->arguments.append({count, outer, *dtype});
  }
  return call;
}

Call allGatherCoalesced(rt::AllGatherCoalescedOp op, dist::MeshAttr mesh) {
  return coalesced(op, op.getInputs(), TSR_ENTRY_ALL_GATHER_COALESCED, mesh);
}

Call reduceScatterCoalesced(rt::ReduceScatterCoalescedOp op,
                            dist::MeshAttr mesh) {
  return coalesced(op, op.getOutputs(), TSR_ENTRY_REDUCE_SCATTER_COALESCED,
                   mesh);
}

/// The first result names the call.
Call waitCall(rt::WaitOp op) {
  RuntimeCall call(TSR_ENTRY_WAIT);
  call.buffers = {op.getResults().front()};
  return call;
}

/// The outer of the two dimensions is gathered or scattered.
Call allToAll(rt::AllToAllOp op, dist::MeshAttr mesh) {
  RankedTensorType from = typeOf(op.getInput()), to = op.getType();
  int64_t gathered = op.getGathered(), scattered = op.getScattered();
  bool gathersOuter = gathered < scattered;
  // The form in which chunks of the inner dimension stand side by side.
  ArrayRef<int64_t> sizes = (gathersOuter ? from : to).getShape();
  int64_t first = std::min(gathered, scattered);
  int64_t second = std::max(gathered, scattered);
  auto product = [&](int64_t begin, int64_t end) {
    int64_t n = 1;
    for (int64_t dim = begin; dim < end; ++dim)
      n *= sizes[dim];
    return n;
  };
  int64_t ranks = to.getDimSize(gathered) / from.getDimSize(gathered);
  int64_t count = product(second, sizes.size()) / ranks;
  Call call =
      collective(op, TSR_ENTRY_ALL_TO_ALL, product(0, first), count, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getInput(), op.getResult(), op.getGates()};
  call->arguments[TSR_COLLECTIVE_ROWS] = product(first, second);
  call->arguments[TSR_COLLECTIVE_GATHERS_OUTER] = gathersOuter;
  if (!op.getGates())
    return call;
  FailureOr<int64_t> dtype = dtypeOf(op, op.getGates());
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> gates = typeOf(op.getGates()).getShape();
  call->arguments[TSR_COLLECTIVE_GATED_EXPERTS] = gates.back();
  call->arguments[TSR_COLLECTIVE_GATED_TOKENS] = gates[0] * gates[1];
  call->arguments[TSR_COLLECTIVE_GATED_ROW] =
      to.getNumElements() / typeOf(op.getGates()).getNumElements();
  call->arguments[TSR_COLLECTIVE_DTYPE_GATES] = *dtype;
  return call;
}

Call exchangeRows(rt::ExchangeRowsOp op, dist::MeshAttr mesh) {
  RankedTensorType from = typeOf(op.getInput()), to = op.getType();
  Call call =
      collective(op, TSR_ENTRY_EXCHANGE_ROWS, 1, from.getShape().back(), mesh);
  FailureOr<int64_t> dtype = dtypeOf(op, op.getSourceGates());
  if (failed(call) || failed(dtype))
    return failure();
  call->buffers = {op.getInput(), op.getResult(), op.getSourceGates(),
                   op.getTargetGates()};
  ArrayRef<int64_t> source = typeOf(op.getSourceGates()).getShape();
  call->arguments[TSR_COLLECTIVE_ROWS] = from.getDimSize(0);
  call->arguments[TSR_COLLECTIVE_TARGET_ROWS] = to.getDimSize(0);
  call->arguments[TSR_COLLECTIVE_GATED_EXPERTS] = source.back();
  call->arguments[TSR_COLLECTIVE_GATED_TOKENS] =
      llvm::product_of(source.drop_back());
  call->arguments[TSR_COLLECTIVE_GATED_ROW] = from.getShape().back();
  call->arguments[TSR_COLLECTIVE_DTYPE_GATES] = *dtype;
  call->arguments[TSR_COLLECTIVE_TO_EXPERTS] = op.goesToExperts();
  call->arguments[TSR_COLLECTIVE_ROUND] = static_cast<int64_t>(op.getRound());
  return call;
}

Call broadcast(rt::BroadcastOp op, dist::MeshAttr mesh) {
  Call call = ofWhole(op, TSR_ENTRY_BROADCAST, mesh);
  if (failed(call))
    return failure();
  call->buffers = {op.getResult()};
  call->arguments[TSR_COLLECTIVE_ROOT] = op.getRoot();
  return call;
}

} // namespace

void tessera::attachCollectiveCalls(MLIRContext &context) {
  attachCall<rt::AllReduceOp, allReduce>(context);
  attachCall<rt::AllGatherOp, allGather>(context);
  attachCall<rt::ReduceScatterOp, reduceScatter>(context);
  attachCall<rt::AllGatherCoalescedOp, allGatherCoalesced>(context);
  attachCall<rt::ReduceScatterCoalescedOp, reduceScatterCoalesced>(context);
  attachCall<rt::AllToAllOp, allToAll>(context);
  attachCall<rt::ExchangeRowsOp, exchangeRows>(context);
  attachCall<rt::BroadcastOp, broadcast>(context);
  attachCall<rt::ShiftOp, shift>(context);
  attachCall<rt::ZigzagOp, zigzag>(context);
  attachCall<rt::WaitOp, waitCall>(context);
}
