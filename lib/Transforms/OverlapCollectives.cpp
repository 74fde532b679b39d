//===- OverlapCollectives.cpp - starts collectives early, waits late ------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/Program.h"
#include "tessera/Transforms/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "tessera/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Names of memory, no work: they move along with what they name.
bool isAlias(Operation *op) { return isa<ViewOp, JoinOp>(op); }

/// The op of `block` that is `user` or holds it.
Operation *inBlock(Block *block, Operation *user) {
  return block->findAncestorOpInBlock(*user);
}

/// The last op of the block behind which all operands exist, where joins move
/// along; null if one comes from outside of the block: it was there before.
Operation *lastSource(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != op->getBlock())
      return nullptr;
    if (isAlias(source))
      source = lastSource(source);
    if (!source)
      return nullptr;
    if (!last || last->isBeforeInBlock(source))
      last = source;
  }
  return last;
}

/// What a collective writes in place is read by nobody else.
bool ownsWhatItWrites(CollectiveOpInterface op) {
  auto call = cast<RuntimeCallOpInterface>(op.getOperation());
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    OpOperand *tied = call.getTiedOperand(result.getResultNumber());
    return !tied || tied->get().hasOneUse();
  });
}

/// The first op that needs a value's elements, through views and joins.
Operation *firstUse(Block *block, Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *use = inBlock(block, user);
    if (isAlias(use))
      use = firstUse(block, use);
    if (use && (!first || use->isBeforeInBlock(first)))
      first = use;
  }
  return first;
}

bool isWork(Operation &op) {
  bool computes = isa<RuntimeCallOpInterface>(op) &&
                  !isa<CollectiveOpInterface, WaitOp>(op);
  return computes || op.getNumRegions() != 0;
}

struct OverlapCollectivesPass
    : tessera::impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    SmallVector<CollectiveOpInterface> all;
    step->walk([&](CollectiveOpInterface op) { all.push_back(op); });
    for (CollectiveOpInterface op : all)
      overlap(op);
  }

  void overlap(CollectiveOpInterface op);
  void moveStart(Operation *op, Operation *behind);
  void moveAliases(Operation *op, Operation *behind);
  void insertWaits(CollectiveOpInterface op, Operation *before);
};

/// Right behind `behind`, with the joins that it reads.
void OverlapCollectivesPass::moveStart(Operation *op, Operation *behind) {
  op->moveAfter(behind);
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp();
        isAlias(source) && behind->isBeforeInBlock(source))
      moveStart(source, behind);
}

/// Names of what an op makes stand behind `behind`.
void OverlapCollectivesPass::moveAliases(Operation *op, Operation *behind) {
  for (Operation *user : op->getUsers()) {
    if (!isAlias(user) || user->getBlock() != behind->getBlock() ||
        behind->isBeforeInBlock(user))
      continue;
    user->moveAfter(behind);
    moveAliases(user, user);
  }
}

/// Users read what rt.wait returns; what is known of the result goes there.
void OverlapCollectivesPass::insertWaits(CollectiveOpInterface op,
                                         Operation *before) {
  OpBuilder builder(before);
  for (OpResult result : op->getResults()) {
    OpOperand *tied = cast<RuntimeCallOpInterface>(op.getOperation())
                          .getTiedOperand(result.getResultNumber());
    SmallVector<Value> inputs;
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != tied && isa<RankedTensorType>(operand.get().getType()))
        inputs.push_back(operand.get());
    auto wait =
        WaitOp::create(builder, op->getLoc(), result.getType(), result, inputs);
    result.replaceAllUsesExcept(wait.getResult(), wait);
    for (StringRef name :
         {StringRef(RTDialect::kKeepAttr), StringRef(RTDialect::kRoleAttr)})
      if (Attribute entries = op->getAttr(name)) {
        wait->setAttr(name, entries);
        op->removeAttr(name);
      }
    if (Attribute phase = op->getAttr(nn::NNDialect::kPhaseAttr))
      wait->setAttr(nn::NNDialect::kPhaseAttr, phase);
    moveAliases(wait, wait);
  }
  op.setAsync(true);
}

/// Starts as soon as the operands exist and waits right before the first use,
/// if there is work in between.
void OverlapCollectivesPass::overlap(CollectiveOpInterface op) {
  Block *block = op->getBlock();
  Operation *source = lastSource(op), *use = firstUse(block, op);
  // One result, as all collectives have today; see insertWaits.
  if (!source || !use || op->getNumResults() != 1 || !ownsWhatItWrites(op))
    return;
  auto between =
      llvm::make_range(std::next(source->getIterator()), use->getIterator());
  if (llvm::none_of(between, isWork))
    return;
  moveStart(op, source);
  insertWaits(op, use);
}

} // namespace
