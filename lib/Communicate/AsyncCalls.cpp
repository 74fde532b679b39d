//===- AsyncCalls.cpp - the uses and the wait of an asynchronous call -----===//

#include "lib/Communicate/AsyncCalls.h"
#include "tessera/Dialect/NN/Marks.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

bool rt::isAlias(Operation *op) {
  return isa_and_nonnull<ViewOp, ConcatOp>(op);
}

bool rt::isWork(Operation &op) {
  bool computes =
      isa<RuntimeCallOpInterface>(op) && !isa<AsyncOpInterface, WaitOp>(op);
  return computes || op.getNumRegions() != 0;
}

Operation *rt::firstUse(Block *block, Operation *op, OpOrder &order) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *use = block->findAncestorOpInBlock(*user);
    if (isAlias(use))
      use = firstUse(block, use, order);
    if (use && (!first || order.isBefore(use, first)))
      first = use;
  }
  return first;
}

bool rt::mayStartEarlier(Operation *op) {
  auto isOutside = [&](Value value) {
    Operation *made = value.getDefiningOp();
    return !made || made->getBlock() != op->getBlock();
  };
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    auto kernel = operand.getDefiningOp<LaunchOp>();
    return isOutside(operand) ||
           (kernel && llvm::all_of(kernel->getOperands(), isOutside));
  });
}

void rt::moveAliases(Operation *op, Operation *place, OpOrder &order) {
  for (Operation *user : op->getUsers()) {
    if (!isAlias(user) || user->getBlock() != place->getBlock() ||
        order.isBefore(place, user))
      continue;
    order.moveAfter(user, place);
    moveAliases(user, user, order);
  }
}

OpOperand *rt::inPlaceOperand(AsyncOpInterface op) {
  auto call = cast<RuntimeCallOpInterface>(op.getOperation());
  return call.getTiedOperand(0);
}

WaitOp rt::insertWait(AsyncOpInterface op, Operation *before, OpOrder &order) {
  OpBuilder builder(before);
  OpOperand *tied = inPlaceOperand(op);
  SmallVector<Value> inputs;
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != tied && isa<RankedTensorType>(operand.get().getType()))
      inputs.push_back(operand.get());
  ResultRange results = op->getResults();
  auto wait = WaitOp::create(builder, op->getLoc(), results.getTypes(), results,
                             inputs);
  for (auto [result, done] : llvm::zip(results, wait.getResults()))
    result.replaceAllUsesExcept(done, wait);
  for (StringRef name :
       {StringRef(RTDialect::kKeepAttr), StringRef(RTDialect::kRoleAttr)})
    if (Attribute entries = op->removeAttr(name))
      wait->setAttr(name, entries);
  nn::inheritPhase(wait, op);
  moveAliases(wait, wait, order);
  op.setAsync(true);
  return wait;
}
