//===- ExpandMicroBatches.cpp - the micro-batch loop ----------------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Partition/Factors.h"
#include "tessera/Partition/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDMICROBATCHESPASS
#include "tessera/Partition/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// A micro-batch: `number`, or the value `index` inside of a loop.
struct Position {
  int64_t number = 0;
  Value index = {};
};

/// Takes one micro-batch of a data tensor whose dimension 0 counts them.
Value slice(OpBuilder &builder, Value data, BlockArgument part, Position at) {
  auto type = cast<RankedTensorType>(part.getType());
  int64_t elements = type.getNumElements();
  return rt::ViewOp::create(builder, part.getLoc(), type, data, at.index,
                            builder.getI64IntegerAttr(at.number * elements),
                            builder.getI64IntegerAttr(elements));
}

/// Moves the body to where the builder stands and returns what it yields.
SmallVector<Value> inlineBody(OpBuilder &builder, nn::MicroBatchesOp op,
                              Position at) {
  Block &body = op.getBody().front();
  for (auto [data, part] : llvm::zip(op.getData(), body.getArguments()))
    part.replaceAllUsesWith(slice(builder, data, part, at));
  auto yield = cast<nn::YieldOp>(body.getTerminator());
  SmallVector<Value> yielded(yield.getValues());
  yield.erase();
  builder.getInsertionBlock()->getOperations().splice(
      builder.getInsertionPoint(), body.getOperations());
  return yielded;
}

/// Adds the results of the body to `sums` at once: a gradient of one
/// micro-batch is not kept.
void addTo(ValueRange sums, Block &body) {
  Operation *yield = body.getTerminator();
  OpBuilder builder(yield);
  for (auto [sum, operand] : llvm::zip(sums, yield->getOpOperands())) {
    Value value = operand.get();
    builder.setInsertionPoint(yield);
    if (Operation *made = value.getDefiningOp();
        made && made->getBlock() == &body)
      builder.setInsertionPointAfter(made);
    Value added = nn::sumOf(builder, value.getLoc(), sum, value);
    if (Operation *made = value.getDefiningOp())
      nn::inheritPhase(added.getDefiningOp(), made);
    operand.set(added);
  }
}

/// The marks of the op's results go to the values that replace them.
void moveEntries(nn::MicroBatchesOp op, ArrayRef<Value> values,
                 StringRef name) {
  for (auto [result, value] : llvm::zip(op->getResults(), values)) {
    DictionaryAttr entry = getResultEntry(result, name);
    auto made = dyn_cast<OpResult>(value);
    if (entry && !entry.empty() && made)
      setResultEntry(made, name, entry);
  }
}

bool hasTasks(nn::MicroBatchesOp op) {
  return !op.getBody().front().getOps<rt::TaskOp>().empty();
}

/// `values` are what the op's body yields, which has been moved before it.
void replace(nn::MicroBatchesOp op, ArrayRef<Value> values, bool hadTasks) {
  if (OpBuilder builder(op); hadTasks)
    rt::TasksEndOp::create(builder, op.getLoc());
  moveEntries(op, values, rt::RTDialect::kRoleAttr);
  op.replaceAllUsesWith(values);
  op.erase();
}

void expandOne(nn::MicroBatchesOp op) {
  OpBuilder builder(op);
  bool hadTasks = hasTasks(op);
  replace(op, inlineBody(builder, op, {}), hadTasks);
}

/// Returns the first `count` micro-batches. An accumulator in f32 for narrower
/// values is the yielded type itself: the differentiator makes gradients in the
/// master type.
rt::LoopOp expandLoop(nn::MicroBatchesOp op, int64_t count) {
  OpBuilder builder(op);
  SmallVector<Value> zeros;
  for (Type type : op.getResultTypes())
    zeros.push_back(rt::ZeroOp::create(builder, op.getLoc(), type));
  auto loop =
      rt::LoopOp::create(builder, op.getLoc(), op.getResultTypes(),
                         builder.getI64IntegerAttr(count), ValueRange(zeros));
  Block *block = builder.createBlock(&loop.getBody());
  Value index = block->addArgument(builder.getI64Type(), op.getLoc());
  for (Value zero : zeros)
    block->addArgument(zero.getType(), op.getLoc());
  addTo(block->getArguments().drop_front(), op.getBody().front());
  builder.setInsertionPointToEnd(block);
  SmallVector<Value> next = inlineBody(builder, op, {0, index});
  rt::YieldOp::create(builder, op.getLoc(), next);
  inheritMarks(loop, op);
  op.replaceAllUsesWith(loop.getResults());
  op.erase();
  return loop;
}

/// A gradient is reduced: its collective may run beside the backward pass that
/// makes the last term.
bool isReducedInBackward(Value sum) {
  return llvm::any_of(sum.getUsers(), [](Operation *user) {
    return isa<rt::CollectiveOpInterface>(user) &&
           nn::phaseOf(user) == nn::Phase::Backward;
  });
}

/// The last micro-batch follows a loop of the others. Verify sees it, and
/// the sums of all, as in a loop. With tasks it always does: other
/// micro-batches are on their way while it runs, so that only its values can be
/// kept.
void expandPeeled(nn::MicroBatchesOp op) {
  int64_t others = static_cast<int64_t>(op.getCount()) - 1;
  OpBuilder builder(op);
  auto head = cast<nn::MicroBatchesOp>(builder.clone(*op));
  head->walk(
      [](Operation *inner) { inner->removeAttr(rt::RTDialect::kKeepAttr); });
  Attribute number = builder.getI64IntegerAttr(others);
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    inner.setAttr(rt::RTDialect::kMicroBatchAttr, number);
  bool hadTasks = hasTasks(op);
  addTo(expandLoop(head, others).getResults(), body);
  SmallVector<Value> sums = inlineBody(builder, op, {others});
  moveEntries(op, sums, rt::RTDialect::kKeepAttr);
  replace(op, sums, hadTasks);
}

struct ExpandMicroBatchesPass
    : tessera::impl::ExpandMicroBatchesPassBase<ExpandMicroBatchesPass> {
  using ExpandMicroBatchesPassBase::ExpandMicroBatchesPassBase;

  void runOnOperation() override {
    bool isUnchanged = true;
    getOperation().walk([&](nn::MicroBatchesOp op) {
      isUnchanged = false;
      if (op.getCount() == 1)
        expandOne(op);
      else if (hasTasks(op) ||
               (peel && llvm::any_of(op.getResults(), isReducedInBackward)))
        expandPeeled(op);
      else
        expandLoop(op, static_cast<int64_t>(op.getCount()));
    });
    if (isUnchanged)
      markAllAnalysesPreserved();
  }
};

} // namespace
