//===- OverlapMessages.cpp - messages beside the program ------------------===//
// All messages or none: a send on the communication thread does not pair up
// with a receive in the program. Messages keep their order, so ranks that did
// not wait for each other for ever do not do so now (docs/Pipeline.md).
//===----------------------------------------------------------------------===//

#include "lib/Communicate/AsyncCalls.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"

namespace tessera {
#define GEN_PASS_DEF_OVERLAPMESSAGESPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Returns whether messages outside of tasks stay on their side of an op.
bool isBarrier(Operation *op) {
  return op->getNumRegions() != 0 || isTaskBorder(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

/// Starts a send where it stands; returns its wait, before `place`.
WaitOp startSend(SendOp send, Operation *place, OpOrder &order) {
  OpBuilder builder(send);
  auto async = SendOp::create(builder, send.getLoc(), send.getInput(),
                              send.getPeerAttr(), send.getAxisAttr(),
                              /*async=*/true);
  async->setDiscardableAttrs(send->getDiscardableAttrDictionary());
  order.erase(send);
  return insertWait(cast<AsyncOpInterface>(async.getOperation()), place, order);
}

/// Messages that are tasks. A receive starts as early as receiveEarly says,
/// and the task that reads it waits. The wait of a send is a task of
/// its own: before the stage's next send or, if that is earlier, before the
/// next task of its micro-batch.
class TaskMessages {
public:
  explicit TaskMessages(func::FuncOp step);

  bool contains(Operation *message) const { return numbers.contains(message); }
  void start(Operation *message, OpOrder &order);
  void finish();

private:
  void receiveEarly(SmallVectorImpl<NumberedTask> &entries) const;
  void addWaits(SmallVectorImpl<NumberedTask> &entries) const;

  func::FuncOp step;
  DenseMap<Operation *, int64_t> numbers; ///< The tasks of messages.
  DenseSet<int64_t> sends, receives;
  DenseMap<int64_t, int64_t> waits; ///< The wait of each send, by number.
  int64_t next = 0;                 ///< No task has this number.
};

TaskMessages::TaskMessages(func::FuncOp step) : step(step) {
  std::optional<int64_t> number; // The task around the op.
  step.walk([&](Operation *op) {
    if (isBarrier(op))
      number = std::nullopt;
    if (auto task = dyn_cast<TaskOp>(op)) {
      number = static_cast<int64_t>(task.getNumber());
      next = std::max(next, *number + 1);
    }
    if (!number || !isa<SendOp, ReceiveOp>(op))
      return;
    numbers[op] = *number;
    (isa<SendOp>(op) ? sends : receives).insert(*number);
  });
}

void TaskMessages::start(Operation *message, OpOrder &order) {
  int64_t number = numbers.lookup(message);
  if (auto receive = dyn_cast<ReceiveOp>(message)) {
    Operation *use = firstUse(receive->getBlock(), receive, order);
    insertWait(cast<AsyncOpInterface>(message),
               use ? use : message->getNextNode(), order);
    return;
  }
  auto [wait, isNew] = waits.try_emplace(number, next);
  next += isNew;
  OpBuilder builder(message->getContext());
  Operation *border = message->getNextNode();
  while (!isTaskBorder(border) && !border->hasTrait<OpTrait::IsTerminator>())
    border = border->getNextNode();
  builder.setInsertionPoint(border);
  TaskOp::create(builder, message->getLoc(), wait->second, "sent");
  startSend(cast<SendOp>(message), border, order);
}

/// Returns for each entry the next one of its micro-batch; the number of
/// entries if there is none.
SmallVector<size_t> nextOfMicroBatch(ArrayRef<NumberedTask> entries) {
  SmallVector<size_t> next(entries.size(), entries.size());
  DenseMap<int64_t, size_t> seen;
  for (size_t k = entries.size(); k-- > 0;) {
    auto [later, isFirst] = seen.try_emplace(entries[k].microBatch, k);
    if (!isFirst)
      next[k] = std::exchange(later->second, k);
  }
  return next;
}

/// A receive needs nothing of its rank, but stays after the earlier tasks of
/// its micro-batch. It does not start before the task that reads the receive
/// before it is next: a stage that only receives would hold what all
/// micro-batches bring.
void TaskMessages::receiveEarly(SmallVectorImpl<NumberedTask> &entries) const {
  /// Sorts the entries: moved ones follow entry `after`, in the old order.
  struct Key {
    size_t after;
    bool moves;
    size_t entry;
    bool operator<(const Key &other) const {
      return std::tie(after, moves, entry) <
             std::tie(other.after, other.moves, other.entry);
    }
  };
  std::vector<Key> keys;
  std::optional<size_t> lastMessage, lastReceive;
  SmallVector<size_t> readers = nextOfMicroBatch(entries);
  DenseMap<int64_t, size_t> lastTask; // The last task of each micro-batch.
  for (auto [k, entry] : llvm::enumerate(entries)) {
    bool moves = receives.contains(entry.number) && lastMessage;
    size_t after = moves ? *lastMessage : k;
    if (auto last = lastTask.find(entry.microBatch);
        moves && last != lastTask.end())
      after = std::max(after, last->second);
    if (moves && lastReceive && readers[*lastReceive] < k)
      after = std::max(after, readers[*lastReceive] - 1);
    if (receives.contains(entry.number))
      lastReceive = k;
    keys.push_back({after, moves, k});
    lastTask[entry.microBatch] = after;
    if (moves || sends.contains(entry.number) ||
        receives.contains(entry.number))
      lastMessage = after;
  }
  llvm::sort(keys);
  SmallVector<NumberedTask> moved;
  for (const Key &key : keys)
    moved.push_back(entries[key.entry]);
  entries = std::move(moved);
}

void TaskMessages::addWaits(SmallVectorImpl<NumberedTask> &entries) const {
  SmallVector<NumberedTask> all;
  std::optional<NumberedTask> open; // A wait that has no place yet.
  for (const NumberedTask &entry : entries) {
    bool isSend = waits.contains(entry.number);
    if (open && (isSend || entry.microBatch == open->microBatch))
      all.push_back(*std::exchange(open, std::nullopt));
    all.push_back(entry);
    if (isSend)
      open = {waits.lookup(entry.number), entry.microBatch};
  }
  if (open)
    all.push_back(*open);
  entries = std::move(all);
}

void TaskMessages::finish() {
  if (numbers.empty())
    return;
  SmallVector<NumberedTask> entries = orderOf(step);
  receiveEarly(entries);
  addWaits(entries);
  setOrder(step, entries);
}

struct OverlapMessagesPass
    : tessera::impl::OverlapMessagesPassBase<OverlapMessagesPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (func::FuncOp step : *programs) {
      SmallVector<Operation *> messages;
      step.walk([&](Operation *op) {
        if (isa<SendOp, ReceiveOp>(op) &&
            !cast<AsyncOpInterface>(op).getAsync())
          messages.push_back(op);
      });
      started.clear();
      barriers.clear();
      order = {};
      step.walk([&](Operation *op) {
        if (isBarrier(op))
          barriers[op->getBlock()].push_back(op);
      });
      TaskMessages tasks(step);
      for (Operation *op : messages) {
        if (tasks.contains(op))
          tasks.start(op, order);
        else if (auto receive = dyn_cast<ReceiveOp>(op))
          overlap(receive);
        else
          overlap(cast<SendOp>(op));
      }
      tasks.finish();
    }
  }

  void overlap(ReceiveOp receive);
  void overlap(SendOp send);
  Operation *earliest(ReceiveOp receive);
  Operation *nextBarrier(Operation *op);

  /// The start of a block's last message, and the wait of its last send.
  struct Last {
    Operation *start = nullptr;
    WaitOp sent;
  };
  DenseMap<Block *, Last> started;
  DenseMap<Block *, SmallVector<Operation *>> barriers; ///< In order.
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
    return !isBarrier(op) && !crossesPrograms(op);
  };
  while (first->getPrevNode() != last && isPassed(first->getPrevNode()))
    first = first->getPrevNode();
  return first;
}

Operation *OverlapMessagesPass::nextBarrier(Operation *op) {
  return *llvm::partition_point(
      barriers[op->getBlock()],
      [&](Operation *barrier) { return order.isBefore(barrier, op); });
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

/// Returns the first op after `op` that writes over `value`, or `next`.
Operation *nextWriter(Operation *op, Value value, Operation *next,
                      OpOrder &order) {
  Block *block = op->getBlock();
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

/// Lets a send wait before another op writes over the tensor, or before the
/// next send: the tensor keeps its memory until then.
void OverlapMessagesPass::overlap(SendOp send) {
  Last &last = started[send->getBlock()];
  if (last.sent && order.isBefore(send, last.sent))
    order.moveBefore(last.sent, send);
  WaitOp wait = startSend(
      send, nextWriter(send, send.getInput(), nextBarrier(send), order), order);
  last = {wait.getPending().front().getDefiningOp(), wait};
}

} // namespace
