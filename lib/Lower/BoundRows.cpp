//===- BoundRows.cpp - experts work in rounds -----------------------------===//
// The ops between the exchanges of a layer, there and back, work on rows of the
// rank's experts. They run once for each round, in the same buffers: forward,
// and in backward, which makes again what it reads of later rounds.
//===----------------------------------------------------------------------===//

#include "lib/Lower/RowRounds.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace tessera {
#define GEN_PASS_DEF_BOUNDROWSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using nn::Phase;
using rt::RoutedKind;

namespace {

/// A program has a copy of an expert's work for each round.
constexpr int64_t kMostRounds = 64;

RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

void setRound(Operation *op, int64_t round) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<rt::RoutedOp, rt::ExchangeRowsOp, rt::ExpandRowsOp>(
          [&](auto call) { call.setRound(round); });
}

/// Runs one layer's work in rounds.
class Rounds {
public:
  Rounds(RowWork &work, int64_t rows, int64_t count, int64_t members)
      : work(work), rows(rows), count(count), members(members) {}

  LogicalResult build();

private:
  void numberRows();
  void boundFirst(Operation *op);
  LogicalResult repeat(ArrayRef<Operation *> finals, Phase phase);
  void repeatRound(ArrayRef<Operation *> slice, Phase phase, int64_t round,
                   OpBuilder &b);
  Value rowsToSend(rt::ExchangeRowsOp exchange, Phase phase, OpBuilder &b);
  void continueFrom(Operation *clone, Value others);

  RowWork &work;
  int64_t rows, count;
  int64_t members; ///< whose tokens are numbered apart
  /// The rounds of rows of the rank's experts, and of those of its own tokens,
  /// which follow from gates where members are numbered apart.
  Value numbers, ownNumbers;
  /// The sums that the rounds so far made together, keyed by the op of the
  /// first round.
  DenseMap<Operation *, Value> sums;
  DenseMap<Operation *, Value> sent; ///< made again for these rounds
};

/// Both sides of all exchanges know the same rounds.
void Rounds::numberRows() {
  rt::ExchangeRowsOp first = work.exchangesIn.front();
  for (rt::ExchangeRowsOp op : work.exchangesIn)
    if (op.getTargetGates().getDefiningOp()->isBeforeInBlock(
            first.getTargetGates().getDefiningOp()))
      first = op;
  Value gates = first.getTargetGates();
  OpBuilder b(gates.getContext());
  b.setInsertionPointAfterValue(gates);
  auto made = rt::RowRoundsOp::create(b, first.getLoc(), gates.getType(), gates,
                                      static_cast<uint64_t>(rows / members),
                                      static_cast<uint64_t>(members));
  inheritPhase(made, gates.getDefiningOp());
  numbers = made.getResult();
  if (members > 1)
    return;
  auto last = static_cast<int64_t>(tensorTypeOf(gates).getRank()) - 1;
  auto back = rt::AllToAllOp::create(
      b, first.getLoc(), first.getSourceGates().getType(), made.getResult(),
      /*gates=*/Value(), first.getAxes(), b.getI64IntegerAttr(last),
      b.getI64IntegerAttr(0));
  back->setAttr("reason", b.getStringAttr("rounds of experts' rows"));
  inheritPhase(back, gates.getDefiningOp());
  ownNumbers = back.getResult();
}

/// Makes an op one of the first round.
void Rounds::boundFirst(Operation *op) {
  setRound(op, 1);
  if (auto routed = dyn_cast<rt::RoutedOp>(op)) {
    op->setOperand(op->getNumOperands() - 1, numbers);
  } else if (auto expand = dyn_cast<rt::ExpandRowsOp>(op)) {
    expand.getGatesMutable().assign(numbers);
  } else if (auto exchange = dyn_cast<rt::ExchangeRowsOp>(op)) {
    bool forth = exchange.goesToExperts();
    MutableOperandRange source = exchange.getSourceGatesMutable();
    MutableOperandRange target = exchange.getTargetGatesMutable();
    (forth ? target : source).assign(numbers);
    if (ownNumbers)
      (forth ? source : target).assign(ownNumbers);
  }
  if (work.isFinal(op))
    return;
  Value result = op->getResult(0);
  result.setType(
      RankedTensorType::get({rows, tensorTypeOf(result).getDimSize(1)},
                            tensorTypeOf(result).getElementType()));
}

/// Returns the rows that an exchange takes to the experts: made again in
/// backward, if they are made of tokens.
Value Rounds::rowsToSend(rt::ExchangeRowsOp exchange, Phase phase,
                         OpBuilder &b) {
  auto dispatch = exchange.getInput().getDefiningOp<rt::RoutedOp>();
  if (!dispatch || dispatch.getKind() != RoutedKind::Dispatch ||
      nn::phaseOf(dispatch) == phase)
    return exchange.getInput();
  Value &made = sent[dispatch];
  if (!made) {
    Operation *clone = b.clone(*dispatch);
    nn::setPhase(clone, Phase::Recompute);
    made = clone->getResult(0);
  }
  return made;
}

/// Adds a round to those before it, in place.
void Rounds::continueFrom(Operation *clone, Value others) {
  if (auto exchange = dyn_cast<rt::ExchangeRowsOp>(clone))
    exchange.getOthersMutable().assign(others);
  else if (auto expand = dyn_cast<rt::ExpandRowsOp>(clone))
    expand.getOthersMutable().assign(others);
  else
    clone->insertOperands(clone->getNumOperands() - 1, others);
}

void Rounds::repeatRound(ArrayRef<Operation *> slice, Phase phase,
                         int64_t round, OpBuilder &b) {
  IRMapping map;
  for (Operation *op : slice) {
    if (auto exchange = dyn_cast<rt::ExchangeRowsOp>(op);
        exchange && exchange.goesToExperts())
      map.map(exchange.getInput(), rowsToSend(exchange, phase, b));
    Operation *clone = b.clone(*op, map);
    setRound(clone, round);
    if (isa<rt::ExchangeRowsOp>(clone))
      clone->setAttr("reason", b.getStringAttr("rows of a later round"));
    if (work.isFinal(op)) {
      continueFrom(clone, sums[op]);
      sums[op] = clone->getResult(0);
      continue;
    }
    clone->removeAttr(rt::RTDialect::kRoleAttr);
    if (nn::phaseOf(op) != phase)
      nn::setPhase(clone, Phase::Recompute);
  }
}

/// The marks of what all rounds make together are those of the last one.
void moveMarks(Operation *first, ArrayRef<Operation *> later) {
  for (StringRef name : {StringRef(rt::RTDialect::kRoleAttr),
                         StringRef(rt::RTDialect::kKeepAttr)}) {
    first->removeAttr(name);
    for (Operation *op : later.drop_back())
      op->removeAttr(name);
  }
}

LogicalResult Rounds::repeat(ArrayRef<Operation *> finals, Phase phase) {
  SmallVector<Operation *> slice = work.sliceOf(finals);
  if (failed(work.makeRoomAfter(finals)))
    return failure();
  OpBuilder b(finals.back()->getContext());
  b.setInsertionPointAfter(finals.back());
  sent.clear();
  DenseMap<Operation *, SmallVector<Operation *>> later;
  for (Operation *op : finals)
    sums[op] = op->getResult(0);
  for (int64_t round = 2; round <= count; ++round) {
    repeatRound(slice, phase, round, b);
    for (Operation *op : finals)
      later[op].push_back(sums[op].getDefiningOp());
  }
  for (Operation *op : finals) {
    op->getResult(0).replaceAllUsesExcept(sums[op], later[op].front());
    moveMarks(op, later[op]);
  }
  return success();
}

LogicalResult Rounds::build() {
  numberRows();
  for (Operation *op : work.ops)
    boundFirst(op);
  for (Phase phase : {Phase::Forward, Phase::Recompute, Phase::Backward})
    for (const RowWork::Ops &finals : work.finalsOf(phase))
      if (failed(repeat(finals, phase)))
        return failure();
  return success();
}

struct BoundRowsPass : tessera::impl::BoundRowsPassBase<BoundRowsPass> {
  using BoundRowsPassBase::BoundRowsPassBase;

  void runOnOperation() override {
    std::deque<RowWork> found = findRowWork(getOperation());
    for (RowWork &work : found)
      if (failed(bound(work)))
        return signalPassFailure();
    if (found.empty())
      markAllAnalysesPreserved();
  }

  LogicalResult bound(RowWork &work);
};

/// Rows are dealt out evenly to the members whose tokens are numbered apart.
LogicalResult BoundRowsPass::bound(RowWork &work) {
  int64_t members = pairs ? work.ranks() : 1, most = work.rows / members;
  double wanted = std::ceil(factor * work.evenShare / double(members));
  int64_t least = raise ? llvm::divideCeil(most, kMostRounds) : 1;
  int64_t share = wanted < double(most)
                      ? std::max(least, static_cast<int64_t>(wanted))
                      : most;
  int64_t count = llvm::divideCeil(most, share), rows = share * members;
  if (count == 1)
    return success();
  if (count > kMostRounds)
    return work.exchangesIn.front().emitError() << llvm::formatv(
               "--expert-buffer {0} has room for {1} of {2} rows, which needs "
               "{3} rounds of a layer's experts; at most {4}: use "
               "--expert-buffer {5:F3} or more",
               factor, rows, work.rows, count, kMostRounds,
               std::ceil(1000 * work.rows / (kMostRounds * work.evenShare)) /
                   1000);
  return Rounds(work, rows, count, members).build();
}

} // namespace
