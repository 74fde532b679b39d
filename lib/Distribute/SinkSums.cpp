//===- SinkSums.cpp - sums of sums over micro-batches ---------------------===//

#include "lib/Distribute/SinkSums.h"

using namespace mlir;
using namespace tessera;

namespace {

class Sinker {
public:
  explicit Sinker(nn::MicroBatchesOp loop)
      : loop(loop), body(loop.getBody().front()) {}

  void run();

private:
  bool canSink(nn::AddOp sum) const;
  void sink(nn::AddOp sum);
  void replaceLoop();

  nn::MicroBatchesOp loop;
  Block &body;
  /// The value that replaces a sum outside of the loop, and the term that one
  /// micro-batch adds to it.
  DenseMap<Value, Value> inside;
  SmallVector<Value> sums; ///< The keys of `inside`, in order.
  SmallVector<nn::AddOp> sunk;
};

bool Sinker::canSink(nn::AddOp sum) const {
  return llvm::all_of(sum->getOperands(), [&](Value operand) {
    Value value = inside.lookup(operand);
    return value && operand.hasOneUse() && value.getParentBlock() == &body &&
           value.getDefiningOp();
  });
}

/// Moves a sum down; it stood where the first of its operands stood.
void Sinker::sink(nn::AddOp sum) {
  *llvm::find(sums, sum->getOperand(0)) = sum.getOutput();
  Operation *last = inside[sum->getOperand(0)].getDefiningOp();
  Operation *copy = sum->clone();
  for (OpOperand &operand : copy->getOpOperands()) {
    Value outside = operand.get(), value = inside[outside];
    inside.erase(outside);
    llvm::erase(sums, outside);
    operand.set(value);
    if (last->isBeforeInBlock(value.getDefiningOp()))
      last = value.getDefiningOp();
  }
  body.getOperations().insert(std::next(last->getIterator()), copy);
  inside[sum.getOutput()] = copy->getResult(0);
  sunk.push_back(sum);
}

void Sinker::replaceLoop() {
  SmallVector<Value> values;
  for (Value sum : sums)
    values.push_back(inside[sum]);
  OpBuilder builder(loop);
  auto ordered = nn::MicroBatchesOp::create(
      builder, loop.getLoc(), TypeRange(ValueRange(values)),
      loop.getCountAttr(), loop.getData());
  body.getTerminator()->setOperands(values);
  ordered.getBody().takeBody(loop.getBody());
  for (auto [sum, result] : llvm::zip(sums, ordered.getResults()))
    sum.replaceAllUsesWith(result);
  for (nn::AddOp sum : llvm::reverse(sunk))
    sum.erase();
  loop.erase();
}

void Sinker::run() {
  for (auto [value, result] :
       llvm::zip(body.getTerminator()->getOperands(), loop.getResults())) {
    inside[result] = value;
    sums.push_back(result);
  }
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode())
    if (auto sum = dyn_cast<nn::AddOp>(op); sum && canSink(sum))
      sink(sum);
  if (!sunk.empty())
    replaceLoop();
}

} // namespace

void tessera::sinkSums(nn::MicroBatchesOp loop) { Sinker(loop).run(); }
