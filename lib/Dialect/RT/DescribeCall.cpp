//===- DescribeCall.cpp - what ops say of themselves in metadata ----------===//
// The default of RuntimeCallOpInterface::describe. Ops that say more begin with
// it, each beside its other methods.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/RT/DescribeCall.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Program/PartName.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static program::Phase phaseOfCall(Operation *op) {
  switch (nn::phaseOf(op)) {
  case nn::Phase::Forward:
    return program::Phase::Forward;
  case nn::Phase::Backward:
    return program::Phase::Backward;
  case nn::Phase::Recompute:
    return program::Phase::Recompute;
  case nn::Phase::Optimizer:
    return program::Phase::Optimizer;
  }
  llvm_unreachable("a phase is missing");
}

static int64_t timesOfCall(Operation *op) {
  int64_t times = 1;
  for (auto loop = op->getParentOfType<LoopOp>(); loop;
       loop = loop->getParentOfType<LoopOp>())
    times *= static_cast<int64_t>(loop.getCount());
  return times;
}

int64_t tessera::rt::bytesOfAll(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    if (isa<RankedTensorType>(value.getType()))
      bytes += bytesOf(value);
  return bytes;
}

void tessera::rt::addTransfer(program::Call &call, Value moved) {
  call.elements += cast<RankedTensorType>(moved.getType()).getNumElements();
  call.bytes += bytesOf(moved);
}

/// Returns the number of a bucket's members, whether they lie side by side or
/// not.
static int64_t tensorsOfCollective(CollectiveOpInterface op) {
  auto reduce = dyn_cast<AllReduceOp>(op.getOperation());
  if (auto bucket =
          reduce ? reduce.getInput().getDefiningOp<ConcatOp>() : ConcatOp())
    return static_cast<int64_t>(bucket.getParts().size());
  return static_cast<int64_t>(op.getWholes().size());
}

void tessera::rt::describeCall(Operation *op, program::Call &call) {
  call.op = op->getName().stripDialect().str();
  call.name = nn::partOf(op->getLoc()).str();
  call.layer = program::layerOfPart(call.name).number;
  call.phase = phaseOfCall(op);
  call.times = timesOfCall(op);
  if (auto cost = dyn_cast<nn::CostOpInterface>(op))
    call.flops = cost.getFlops();
  if (auto reason = op->getAttrOfType<StringAttr>("reason"))
    call.reason = reason.getValue().str();
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective) {
    call.bytes = bytesOfAll(op->getOperands()) + bytesOfAll(op->getResults());
    return;
  }
  for (auto axis : collective.getAxes().getAsRange<StringAttr>())
    call.axes.push_back(axis.getValue().str());
  for (Value whole : collective.getWholes())
    addTransfer(call, whole);
  call.tensors = tensorsOfCollective(collective);
}
