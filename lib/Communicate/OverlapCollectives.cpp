//===- OverlapCollectives.cpp - starts collectives early, waits late ------===//

#include "lib/Communicate/AsyncCalls.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"

namespace tessera {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Returns the last op of the block after which all operands exist, where
/// concatenations move along; null if one comes from outside of the block: it
/// was there before.
Operation *lastSource(Operation *op, OpOrder &order) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != op->getBlock())
      return nullptr;
    if (isAlias(source))
      source = lastSource(source, order);
    if (!source)
      return nullptr;
    if (!last || order.isBefore(last, source))
      last = source;
  }
  return last;
}

/// Returns whether nothing else reads what a collective writes in place.
bool ownsWhatItWrites(CollectiveOpInterface op) {
  OpOperand *tied = inPlaceOperand(op);
  return !tied || tied->get().hasOneUse();
}

/// Returns whether an op deals out chunks. They are read at once, so starting
/// it early would only make the slice live on.
bool dealsOut(Operation *op) {
  auto zigzag = dyn_cast<ZigzagOp>(op);
  return zigzag && !zigzag.makesWhole();
}

/// Rounds share buffers. Those after the first seldom move anything.
bool isLaterRound(Operation *op) {
  if (auto exchange = dyn_cast<ExchangeRowsOp>(op))
    return exchange.getRound() > 1;
  auto exchange = dyn_cast<AllToAllOp>(op);
  auto pack =
      exchange ? exchange.getInput().getDefiningOp<PackRowsOp>() : PackRowsOp();
  return pack && pack.isLaterRound();
}

/// Returns where a gather starts. One that backward repeats could have started
/// in forward, but it starts where it stands: the gathered value would else
/// live from forward to backward.
Operation *startAgain(CollectiveOpInterface op, Operation *source) {
  bool isKept = source && nn::isRecomputed(op) && nn::isForward(source);
  return isKept ? op->getPrevNode() : source;
}

struct OverlapCollectivesPass
    : tessera::impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (func::FuncOp step : *programs) {
      SmallVector<CollectiveOpInterface> all;
      step.walk([&](CollectiveOpInterface op) { all.push_back(op); });
      fetched.clear();
      summed.clear();
      order = {};
      findTasks(step);
      for (CollectiveOpInterface op : all)
        if (!crossesPrograms(op))
          overlap(op);
    }
  }

  void overlap(CollectiveOpInterface op);
  void findTasks(func::FuncOp step);
  void moveStart(Operation *op, Operation *place);
  Operation *prefetchPoint(CollectiveOpInterface op);
  void limitPending(CollectiveOpInterface op, Operation *wait);

  /// For each block, the last collective of operands from outside, or its wait.
  DenseMap<Block *, Operation *> fetched;
  /// For each block, the wait of the last sum of a tensor that is whole.
  DenseMap<Block *, Operation *> summed;
  /// The borders of the task that a collective is in.
  DenseMap<Operation *, std::pair<Operation *, Operation *>> tasks;
  OpOrder order;
};

void OverlapCollectivesPass::findTasks(func::FuncOp step) {
  tasks.clear();
  step.walk([&](Block *block) {
    SmallVector<Operation *> collectives;
    Operation *begin = nullptr;
    for (Operation &op : *block) {
      if (isTaskBorder(&op) || op.hasTrait<OpTrait::IsTerminator>()) {
        if (isa_and_nonnull<TaskOp>(begin))
          for (Operation *collective : collectives)
            tasks[collective] = {begin, &op};
        collectives.clear();
        begin = &op;
      } else if (isa<CollectiveOpInterface>(op)) {
        collectives.push_back(&op);
      }
    }
  });
}

/// Moves a collective to right after `place`, with the concatenations that it
/// reads, and the kernels that mayStartEarlier speaks of.
void OverlapCollectivesPass::moveStart(Operation *op, Operation *place) {
  order.moveAfter(op, place);
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp();
        source && source->getBlock() == place->getBlock() &&
        order.isBefore(place, source))
      moveStart(source, place);
}

/// Returns where a collective whose operands existed before the block may
/// start: after the last one of its kind, so that one is on its way at a time,
/// or where it stands.
Operation *OverlapCollectivesPass::prefetchPoint(CollectiveOpInterface op) {
  Operation *last = fetched.lookup(op->getBlock());
  return last && order.isBefore(last, op) ? last : op->getPrevNode();
}

/// Limits pending sums: one of a whole tensor keeps the tensor alive until its
/// wait, so it waits before the next such sum starts.
void OverlapCollectivesPass::limitPending(CollectiveOpInterface op,
                                          Operation *wait) {
  bool readsWhole = llvm::is_contained(op->getOperands(), op.getWholes()[0]);
  if (!readsWhole || inPlaceOperand(op))
    return;
  Operation *&last = summed[op->getBlock()];
  if (last && order.isBefore(op, last) &&
      order.isBefore(last->getOperand(0).getDefiningOp(), op))
    order.moveBefore(last, op);
  last = wait;
}

/// Returns where to start instead of after `source`: after the last send before
/// the use, for which another stage waits while calls run one after the other,
/// and after the calls that have been put there.
Operation *afterSends(Operation *source, Operation *use) {
  Operation *op = use->getPrevNode();
  while (op && op != source && !isa<SendOp>(op))
    op = op->getPrevNode();
  if (!op || op == source)
    return source;
  auto isStart = [](Operation *next) {
    auto start = dyn_cast<CollectiveOpInterface>(next);
    return isAlias(next) || (start && start.getAsync());
  };
  while (op->getNextNode() != use && isStart(op->getNextNode()))
    op = op->getNextNode();
  return op;
}

/// Returns whether there is anything that a call can run beside: what makes its
/// operands is moved along.
bool hasWorkBetween(Operation *source, Operation *use, Operation *call) {
  auto between =
      llvm::make_range(std::next(source->getIterator()), use->getIterator());
  return llvm::any_of(between, [&](Operation &op) {
    return isWork(op) && !llvm::is_contained(op.getUsers(), call);
  });
}

/// Starts a collective as soon as its operands exist and waits right before the
/// first use, if there is work in between.
void OverlapCollectivesPass::overlap(CollectiveOpInterface op) {
  Block *block = op->getBlock();
  Operation *source = lastSource(op, order), *use = firstUse(block, op, order);
  bool isFetched = !inPlaceOperand(op) && mayStartEarlier(op);
  if (isFetched) {
    source = prefetchPoint(op);
    fetched[block] = op;
  }
  // A task waits for what it starts: the next one is of another micro-batch.
  if (auto task = tasks.find(op); task != tasks.end()) {
    auto [begin, end] = task->second;
    if (source && order.isBefore(source, begin))
      source = begin;
    if (use && order.isBefore(end, use))
      use = end;
  }
  if (!source || !use || !ownsWhatItWrites(op) || dealsOut(op) ||
      isLaterRound(op))
    return;
  source = afterSends(isFetched ? source : startAgain(op, source), use);
  if (!hasWorkBetween(source, use, op))
    return;
  moveStart(op, source);
  Operation *wait = insertWait(op, use, order);
  limitPending(op, wait);
  if (isFetched)
    fetched[block] = wait;
}

} // namespace
