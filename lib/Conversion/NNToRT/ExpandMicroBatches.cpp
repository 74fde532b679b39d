//===- ExpandMicroBatches.cpp - the micro-batch loop ----------------------===//

#include "Marks.h"
#include "tessera/Conversion/NNToRT/Factors.h"
#include "tessera/Conversion/NNToRT/Passes.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/Sum.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDMICROBATCHESPASS
#include "tessera/Conversion/NNToRT/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Micro-batch `index` of a data tensor whose dimension 0 counts them.
Value slice(OpBuilder &builder, Value data, BlockArgument part, Value index) {
  auto type = cast<RankedTensorType>(part.getType());
  return rt::ViewOp::create(builder, part.getLoc(), type, data, index,
                            builder.getI64IntegerAttr(0),
                            builder.getI64IntegerAttr(type.getNumElements()));
}

/// Moves the body before the op and returns what it yields.
SmallVector<Value> inlineBody(OpBuilder &builder, nn::MicroBatchesOp op,
                              Block *into, Value index) {
  Block &body = op.getBody().front();
  for (auto [data, part] : llvm::zip(op.getData(), body.getArguments()))
    part.replaceAllUsesWith(slice(builder, data, part, index));
  auto yield = cast<nn::YieldOp>(body.getTerminator());
  SmallVector<Value> yielded(yield.getValues());
  yield.erase();
  into->getOperations().splice(builder.getInsertionPoint(),
                               body.getOperations());
  return yielded;
}

/// What is said of the loop's results goes to the values that replace them.
void moveRoles(nn::MicroBatchesOp op, ArrayRef<Value> values) {
  for (auto [result, value] : llvm::zip(op->getResults(), values)) {
    DictionaryAttr role = getResultEntry(result, rt::RTDialect::kRoleAttr);
    auto made = dyn_cast<OpResult>(value);
    if (role && !role.empty() && made)
      setResultEntry(made, rt::RTDialect::kRoleAttr, role);
  }
}

/// An accumulator in f32 for narrower values is the yielded type itself: the
/// differentiator makes gradients in the master type.
void expandLoop(nn::MicroBatchesOp op) {
  OpBuilder builder(op);
  SmallVector<Value> zeros;
  for (Type type : op.getResultTypes())
    zeros.push_back(rt::ZeroOp::create(builder, op.getLoc(), type));
  auto loop = rt::LoopOp::create(builder, op.getLoc(), op.getResultTypes(),
                                 op.getCountAttr(), zeros);
  Block *block = builder.createBlock(&loop.getBody());
  Value index = block->addArgument(builder.getI64Type(), op.getLoc());
  SmallVector<Value> sums;
  for (Value zero : zeros)
    sums.push_back(block->addArgument(zero.getType(), op.getLoc()));
  builder.setInsertionPointToEnd(block);
  SmallVector<Value> yielded = inlineBody(builder, op, block, index);
  SmallVector<Value> next;
  for (auto [sum, value] : llvm::zip(sums, yielded)) {
    // At once: a gradient of one micro-batch is not kept.
    builder.setInsertionPointToEnd(block);
    if (Operation *made = value.getDefiningOp();
        made && made->getBlock() == block)
      builder.setInsertionPointAfter(made);
    next.push_back(nn::sumOf(builder, value.getLoc(), sum, value));
  }
  builder.setInsertionPointToEnd(block);
  rt::YieldOp::create(builder, op.getLoc(), next);
  inheritMarks(loop, op);
  op.replaceAllUsesWith(loop.getResults());
  op.erase();
}

struct ExpandMicroBatchesPass
    : tessera::impl::ExpandMicroBatchesPassBase<ExpandMicroBatchesPass> {
  void runOnOperation() override {
    bool isUnchanged = true;
    getOperation().walk([&](nn::MicroBatchesOp op) {
      isUnchanged = false;
      if (op.getCount() > 1)
        return expandLoop(op);
      OpBuilder builder(op);
      SmallVector<Value> yielded =
          inlineBody(builder, op, op->getBlock(), Value());
      moveRoles(op, yielded);
      op.replaceAllUsesWith(yielded);
      op.erase();
    });
    if (isUnchanged)
      markAllAnalysesPreserved();
  }
};

} // namespace
