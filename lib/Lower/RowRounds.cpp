//===- RowRounds.cpp - a layer's work on rows of experts ------------------===//

#include "lib/Lower/RowRounds.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;
using rt::RoutedKind;

bool RowWork::isFinal(Operation *op) {
  if (auto exchange = dyn_cast<rt::ExchangeRowsOp>(op))
    return !exchange.goesToExperts();
  auto routed = dyn_cast<rt::RoutedOp>(op);
  return isa<rt::ExpandRowsOp>(op) ||
         (routed && routed.getKind() == RoutedKind::ProductGradWeight);
}

int64_t RowWork::ranks() const {
  rt::ExchangeRowsOp exchange = exchangesIn.front();
  return exchange.getRanks();
}

static Operation *taskOf(Operation *op) {
  while (op && !isa<rt::TaskOp>(op))
    op = op->getPrevNode();
  return op;
}

SmallVector<RowWork::Ops> RowWork::finalsOf(nn::Phase phase) const {
  llvm::MapVector<Operation *, Ops> finals;
  for (Operation *op : ops)
    if (isFinal(op) && nn::phaseOf(op) == phase)
      finals[taskOf(op)].push_back(op);
  SmallVector<Ops> parts;
  for (auto &[task, part] : finals)
    parts.push_back(std::move(part));
  return parts;
}

SmallVector<Operation *> RowWork::sliceOf(ArrayRef<Operation *> finals) const {
  DenseSet<Operation *> read(finals.begin(), finals.end());
  SmallVector<Operation *> slice;
  for (Operation *op : llvm::reverse(ops)) {
    if (!read.contains(op))
      continue;
    slice.push_back(op);
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && !isFinal(maker))
        read.insert(maker);
  }
  std::reverse(slice.begin(), slice.end());
  return slice;
}

LogicalResult RowWork::makeRoomAfter(ArrayRef<Operation *> finals) const {
  Operation *last = finals.back();
  Block *block = last->getBlock();
  DenseSet<Operation *> own(ops.begin(), ops.end());
  llvm::SetVector<Operation *> late;
  auto add = [&](Operation *op) {
    for (Operation *user : op->getUsers())
      if (Operation *at = block->findAncestorOpInBlock(*user);
          at && at->isBeforeInBlock(last))
        late.insert(at);
  };
  for (Operation *op : finals)
    add(op);
  for (size_t i = 0; i < late.size(); ++i)
    add(late[i]);
  SmallVector<Operation *> moved = late.takeVector();
  llvm::sort(moved,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : moved)
    if (own.contains(op))
      return op->emitOpError()
             << "needs what all rounds of experts make before it; compile "
                "without --expert-buffer";
  for (Operation *op : llvm::reverse(moved))
    op->moveAfter(last);
  return success();
}

namespace {
/// Finds what works on the same rows.
class Finder {
public:
  void visit(Operation *op);
  void finish(std::deque<RowWork> &to);

private:
  void join(Operation *op);

  DenseMap<Value, Operation *> makers; ///< make the rows of experts
  llvm::EquivalenceClasses<Operation *> classes;
  SmallVector<Operation *> order;
};
} // namespace

/// The order of ops is that of their first ones.
void Finder::join(Operation *op) {
  classes.insert(op);
  order.push_back(op);
  for (Value operand : op->getOperands())
    if (auto it = makers.find(operand); it != makers.end())
      classes.unionSets(op, it->second);
}

void Finder::visit(Operation *op) {
  auto exchange = dyn_cast<rt::ExchangeRowsOp>(op);
  bool comes = exchange && exchange.goesToExperts();
  bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
    return makers.contains(operand);
  });
  if (!comes && !reads)
    return;
  join(op);
  if (!RowWork::isFinal(op))
    makers[op->getResult(0)] = op;
}

/// Returns the experts of a token, of all experts, and how many the rank has.
static double evenShareOf(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (auto routed = dyn_cast<rt::RoutedOp>(op)) {
      auto gates = cast<RankedTensorType>(routed.getInputs().back().getType());
      return double(gates.getNumElements()) * double(routed.getK()) /
             double(routed.getTotal());
    }
  return 0;
}

void Finder::finish(std::deque<RowWork> &to) {
  llvm::MapVector<Operation *, RowWork> found;
  for (Operation *op : order) {
    RowWork &work = found[classes.getLeaderValue(op)];
    work.ops.push_back(op);
    if (auto exchange = dyn_cast<rt::ExchangeRowsOp>(op);
        exchange && exchange.goesToExperts())
      work.exchangesIn.push_back(exchange);
  }
  for (auto &[leader, work] : found) {
    work.rows = work.exchangesIn.front().getType().getDimSize(0);
    work.evenShare = evenShareOf(work.ops);
    if (work.evenShare > 0)
      to.push_back(std::move(work));
  }
}

std::deque<RowWork> tessera::findRowWork(ModuleOp module) {
  std::deque<RowWork> found;
  SmallVector<Block *> blocks;
  module.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks) {
    Finder finder;
    for (Operation &op : *block)
      finder.visit(&op);
    finder.finish(found);
  }
  return found;
}
