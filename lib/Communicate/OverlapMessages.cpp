//===- OverlapMessages.cpp - messages beside the program ------------------===//
// All messages or none: a send on the communication thread does not pair up
// with a receive in the program. Messages keep their order, so ranks that did
// not wait for each other for ever do not do so now (docs/Pipeline.md).
//===----------------------------------------------------------------------===//

#include "lib/Communicate/AsyncCalls.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RTProgram.h"

namespace tessera {
#define GEN_PASS_DEF_OVERLAPMESSAGESPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

struct OverlapMessagesPass
    : tessera::impl::OverlapMessagesPassBase<OverlapMessagesPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> steps = findSteps(getOperation());
    if (failed(steps))
      return signalPassFailure();
    for (func::FuncOp step : *steps) {
      SmallVector<Operation *> messages;
      step.walk([&](Operation *op) {
        if (isa<SendOp, ReceiveOp>(op) &&
            !cast<AsyncOpInterface>(op).getAsync())
          messages.push_back(op);
      });
      started.clear();
      order = {};
      for (Operation *op : messages) {
        if (auto receive = dyn_cast<ReceiveOp>(op))
          overlap(receive);
        else
          overlap(cast<SendOp>(op));
      }
    }
  }

  void overlap(ReceiveOp receive);
  void overlap(SendOp send);
  Operation *earliest(ReceiveOp receive);

  /// By block: the start of the last message, the wait of the last send.
  struct Last {
    Operation *start = nullptr;
    WaitOp sent;
  };
  DenseMap<Block *, Last> started;
  OpOrder order;
};

/// A receive needs nothing of its rank. It may stand right after the last
/// message, but not before a collective of ranks with other programs: those
/// would be in another order.
Operation *OverlapMessagesPass::earliest(ReceiveOp receive) {
  Operation *first = receive;
  Operation *last = started.lookup(receive->getBlock()).start;
  if (!last)
    return first;
  auto isPassed = [](Operation *op) {
    return op->getNumRegions() == 0 && !crossesPrograms(op);
  };
  while (first->getPrevNode() != last && isPassed(first->getPrevNode()))
    first = first->getPrevNode();
  return first;
}

/// A receive starts after the last message and is waited for before its first
/// use.
void OverlapMessagesPass::overlap(ReceiveOp receive) {
  Block *block = receive->getBlock();
  if (Operation *before = earliest(receive); before != receive)
    order.moveBefore(receive, before);
  Operation *use = firstUse(block, receive, order);
  auto async = cast<AsyncOpInterface>(receive.getOperation());
  insertWait(async, use ? use : receive->getNextNode(), order);
  started[block].start = receive;
}

/// The first op after `op` that writes over `value`; else the end of the
/// block.
Operation *nextWriter(Operation *op, Value value, OpOrder &order) {
  Block *block = op->getBlock();
  Operation *next = block->getTerminator();
  for (OpOperand &use : value.getUses()) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    auto call = dyn_cast<RuntimeCallOpInterface>(use.getOwner());
    bool writes = user != use.getOwner() ||
                  (call && llvm::any_of(call->getResults(), [&](OpResult r) {
                     return call.getTiedOperand(r.getResultNumber()) == &use;
                   }));
    if (writes && user && order.isBefore(op, user) &&
        order.isBefore(user, next))
      next = user;
  }
  return next;
}

/// A send waits before another op writes over the tensor, or before the next
/// send: the tensor keeps its memory until then.
void OverlapMessagesPass::overlap(SendOp send) {
  Last &last = started[send->getBlock()];
  if (last.sent && order.isBefore(send, last.sent))
    order.moveBefore(last.sent, send);
  OpBuilder builder(send);
  auto async = SendOp::create(builder, send.getLoc(), send.getInput(),
                              send.getPeerAttr(), send.getAxisAttr(),
                              /*async=*/true);
  async->setDiscardableAttrs(send->getDiscardableAttrDictionary());
  order.erase(send);
  WaitOp wait = insertWait(cast<AsyncOpInterface>(async.getOperation()),
                           nextWriter(async, async.getInput(), order), order);
  last = {async, wait};
}

} // namespace
