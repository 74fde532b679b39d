//===- RTCollectives.cpp - collectives, messages and waits ----------------===//

#include "lib/Dialect/RT/DescribeCall.h"
#include "lib/Dialect/RT/ShapeChecks.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

OpOperand *AllReduceOp::getTiedOperand(unsigned result) {
  return &getInputMutable();
}

dist::Collective AllReduceOp::getCollective() {
  return dist::Collective::AllReduce;
}
ValueRange AllReduceOp::getWholes() { return getOperation()->getResults(); }

dist::Collective AllGatherOp::getCollective() {
  return dist::Collective::AllGather;
}
ValueRange AllGatherOp::getWholes() { return getOperation()->getResults(); }

dist::Collective ReduceScatterOp::getCollective() {
  return dist::Collective::ReduceScatter;
}
ValueRange ReduceScatterOp::getWholes() {
  return getOperation()->getOperands();
}

dist::Collective AllGatherCoalescedOp::getCollective() {
  return dist::Collective::AllGather;
}
ValueRange AllGatherCoalescedOp::getWholes() { return getOutputs(); }

dist::Collective ReduceScatterCoalescedOp::getCollective() {
  return dist::Collective::ReduceScatter;
}
ValueRange ReduceScatterCoalescedOp::getWholes() { return getInputs(); }

OpOperand *WaitOp::getTiedOperand(unsigned result) {
  return &getPendingMutable()[result];
}

dist::Collective AllToAllOp::getCollective() {
  return dist::Collective::AllToAll;
}
ValueRange AllToAllOp::getWholes() {
  return getOperation()->getOperands().take_front(1);
}

OpOperand *BroadcastOp::getTiedOperand(unsigned result) {
  return getInput() ? &getInputMutable()[0] : nullptr;
}

void BroadcastOp::describe(program::Call &call) {
  describeCall(*this, call);
  call.isRoot = !!getInput();
}

dist::Collective BroadcastOp::getCollective() {
  return dist::Collective::Broadcast;
}
ValueRange BroadcastOp::getWholes() { return getOperation()->getResults(); }

/// The whole has a chunk per rank.
static LogicalResult verifyChunks(Operation *op, RankedTensorType whole,
                                  RankedTensorType chunk, uint64_t dim) {
  if (failed(verifyAlong(op, chunk, whole, dim)))
    return failure();
  int64_t size = whole.getDimSize(dim), part = chunk.getDimSize(dim);
  if (part > 0 && size % part == 0)
    return success();
  return op->emitOpError() << "has chunks of " << part << " in dimension "
                           << dim << " of size " << size
                           << "; it must be a multiple";
}

LogicalResult AllGatherOp::verify() {
  return verifyChunks(*this, cast<RankedTensorType>(getType()),
                      cast<RankedTensorType>(getInput().getType()), getDim());
}

LogicalResult ReduceScatterOp::verify() {
  return verifyChunks(*this, cast<RankedTensorType>(getInput().getType()),
                      cast<RankedTensorType>(getType()), getDim());
}

/// Checks that every member is what its own collective would be, of the same
/// ranks.
template <typename OpTy>
static LogicalResult verifyCoalesced(OpTy op, ValueRange wholes,
                                     ValueRange chunks) {
  size_t members = op.getDims().size();
  if (members == 0 || wholes.size() != members || chunks.size() != members)
    return op.emitOpError()
           << "has " << op.getInputs().size() << " operands, "
           << op.getOutputs().size() << " results and " << members
           << " dimensions; give every operand one of each";
  int64_t ranks = 0;
  for (auto [whole, chunk, dim] : llvm::zip(wholes, chunks, op.getDims())) {
    auto from = cast<RankedTensorType>(whole.getType());
    auto to = cast<RankedTensorType>(chunk.getType());
    if (dim < 0)
      return op.emitOpError() << "works along dimension " << dim
                              << "; dimensions are counted from 0";
    if (failed(verifyChunks(op, from, to, dim)))
      return failure();
    int64_t own = from.getDimSize(dim) / to.getDimSize(dim);
    if (ranks != 0 && own != ranks)
      return op.emitOpError() << "has chunks for " << ranks << " ranks and for "
                              << own << "; all members have the same ranks";
    ranks = own;
  }
  return success();
}

LogicalResult AllGatherCoalescedOp::verify() {
  return verifyCoalesced(*this, getOutputs(), getInputs());
}

LogicalResult ReduceScatterCoalescedOp::verify() {
  return verifyCoalesced(*this, getInputs(), getOutputs());
}

LogicalResult AllToAllOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getType());
  int64_t rank = from.getRank(), in = getGathered(), out = getScattered();
  if (in >= rank || out >= rank || in == out)
    return emitOpError() << "works from dimension " << in << " to " << out
                         << " of " << from << "; they must be two of its "
                         << rank;
  SmallVector<int64_t> shape(from.getShape());
  int64_t ranks = to.getRank() == rank ? to.getDimSize(in) / shape[in] : 0;
  shape[in] *= ranks;
  if (ranks > 0 && shape[out] % ranks == 0) {
    shape[out] /= ranks;
    if (from.clone(shape) == to)
      return getGates() ? verifyGates(*this, getResult(), getGates())
                        : success();
  }
  return emitOpError() << "makes " << to << " of " << from
                       << "; what dimension " << in << " gains, dimension "
                       << out << " must lose";
}

//===----------------------------------------------------------------------===//
// Asynchronous calls
//===----------------------------------------------------------------------===//

void WaitOp::describe(program::Call &call) {
  describeCall(*this, call);
  call.bytes = 0; // the call that it waits for moves them
}

template <typename Message>
static void describeMessage(Message op, Value moved, program::Call &call) {
  describeCall(op, call);
  call.axes = {op.getAxis().str()};
  call.peer = static_cast<int64_t>(op.getPeer());
  call.bytes = 0;
  addTransfer(call, moved);
}

void SendOp::describe(program::Call &call) {
  describeMessage(*this, getInput(), call);
}

void ReceiveOp::describe(program::Call &call) {
  describeMessage(*this, getOperation()->getResult(0), call);
}

LogicalResult WaitOp::verify() {
  auto start = getPending().empty()
                   ? AsyncOpInterface()
                   : getPending().front().getDefiningOp<AsyncOpInterface>();
  if (!start || !start.getAsync())
    return emitOpError() << "waits for a value that is not pending; only an "
                            "asynchronous call makes such a value";
  if (start->getBlock() != (*this)->getBlock())
    return emitOpError() << "waits in another block than the one in which the "
                            "call is started";
  if (!llvm::equal(getPending(), start->getResults()) ||
      getResultTypes() != getPending().getTypes())
    return emitOpError() << "waits for " << getPending().size() << " of "
                         << start->getNumResults()
                         << " results; it must return all, as they are";
  return success();
}

static RankedTensorType tokenType(MLIRContext *context) {
  return RankedTensorType::get({1}, IntegerType::get(context, 8));
}

bool tessera::rt::isToken(Type type) {
  return type == tokenType(type.getContext());
}

void SendOp::build(OpBuilder &builder, OperationState &state, Value input,
                   IntegerAttr peer, StringAttr axis, bool async) {
  build(builder, state, async ? tokenType(builder.getContext()) : Type(), input,
        peer, axis, async ? builder.getUnitAttr() : UnitAttr());
}

/// A rank that the op names by its coordinate on an axis must be in the mesh.
static LogicalResult verifyCoordinate(Operation *op, StringRef axis,
                                      int64_t coordinate) {
  dist::MeshAttr mesh = dist::meshOf(op);
  if (!mesh)
    return success();
  if (mesh.getIndex(axis) < 0)
    return op->emitOpError() << "names a rank of axis '" << axis
                             << "', which the module's dist.mesh does not have";
  if (coordinate >= mesh.getSize(axis))
    return op->emitOpError()
           << "names rank " << coordinate << " of axis '" << axis
           << "', which has " << mesh.getSize(axis) << " ranks, from 0";
  return success();
}

LogicalResult ReceiveOp::verify() {
  return verifyCoordinate(*this, getAxis(), getPeer());
}

LogicalResult BroadcastOp::verify() {
  auto axes = getAxes().getAsRange<StringAttr>();
  for (StringAttr axis : axes)
    if (failed(verifyCoordinate(*this, axis, getRoot())))
      return failure();
  return success();
}

LogicalResult SendOp::verify() {
  if (failed(verifyCoordinate(*this, getAxis(), getPeer())))
    return failure();
  if (getAsync() == bool(getToken()))
    return success();
  return emitOpError() << (getAsync() ? "is asynchronous, but makes no token "
                                        "to wait for; give it a tensor<1xi8>"
                                      : "makes a token, but is not "
                                        "asynchronous");
}

LogicalResult tessera::rt::verifyAsync(Operation *op) {
  if (!cast<AsyncOpInterface>(op).getAsync())
    return success();
  for (Value result : op->getResults()) {
    for (Operation *user : result.getUsers())
      if (!isa<WaitOp>(user))
        return op->emitOpError() << "is pending, but '" << user->getName()
                                 << "' reads its result; only rt.wait may";
    if (!result.hasOneUse())
      return op->emitOpError()
             << "is started, but "
             << (result.use_empty() ? "never" : "more than once")
             << " waited for; give it one rt.wait";
  }
  return success();
}
