//===- Differentiate.cpp - appends the backward program -------------------===//

#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Train/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "tessera/Train/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Reverse-mode differentiation of one straight-line function.
class Differentiator {
public:
  explicit Differentiator(func::FuncOp func)
      : func(func), builder(func.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  void findActive();
  LogicalResult receive(Value value, Value grad);
  LogicalResult backward(Operation *op);
  void returnGradients();

  func::FuncOp func;
  OpBuilder builder;
  DenseSet<Value> active;
  DenseMap<Value, Value> grads;
};

bool isTrained(func::FuncOp func, BlockArgument argument) {
  return nn::isTrained(func, argument.getArgNumber());
}

void Differentiator::findActive() {
  for (BlockArgument argument : func.getArguments())
    if (isTrained(func, argument))
      active.insert(argument);
  for (Operation &op : func.getBody().front()) {
    bool reads = llvm::any_of(op.getOperands(),
                              [&](Value v) { return active.contains(v); });
    if (reads && isa<nn::DifferentiableOpInterface>(op))
      active.insert(op.result_begin(), op.result_end());
  }
}

/// Adds to the gradient of a value; its type must be the dual of the value's.
LogicalResult Differentiator::receive(Value value, Value grad) {
  auto expected = dist::dualType(cast<RankedTensorType>(value.getType()));
  if (grad.getType() != expected)
    return emitError(value.getLoc())
           << "the gradient of a value of type " << value.getType()
           << " must be " << expected << ", but is " << grad.getType();
  Value &sum = grads[value];
  if (!sum) {
    sum = grad;
    return success();
  }
  sum = nn::sumOf(builder, grad.getLoc(), sum, grad);
  // The last of a value's gradients is made in its own chunk.
  inheritChunk(sum.getDefiningOp(), value.getDefiningOp());
  return success();
}

LogicalResult Differentiator::backward(Operation *op) {
  SmallVector<Value> resultGrads;
  for (Value result : op->getResults())
    resultGrads.push_back(grads.lookup(result));
  if (llvm::none_of(resultGrads, [](Value v) { return v; }))
    return success();
  auto iface = dyn_cast<nn::DifferentiableOpInterface>(op);
  if (!iface)
    return success();
  if (iface.needsEveryGradient())
    for (auto [k, grad] : llvm::enumerate(resultGrads))
      if (!grad)
        return op->emitOpError()
               << "cannot be differentiated: the loss does not depend on "
                  "result #"
               << k;
  SmallVector<bool> wanted = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return active.contains(v); });
  SmallVector<Value> operandGrads(op->getNumOperands());
  Operation *before = builder.getInsertionPoint()->getPrevNode();
  iface.buildBackward(builder, resultGrads, wanted, operandGrads);
  for (auto [k, grad] : llvm::enumerate(operandGrads))
    if (grad && wanted[k] && failed(receive(op->getOperand(k), grad)))
      return failure();
  for (Operation *made = before->getNextNode();
       made != &*builder.getInsertionPoint(); made = made->getNextNode())
    inheritChunk(made, op);
  return success();
}

void Differentiator::returnGradients() {
  Operation *ret = func.getBody().front().getTerminator();
  SmallVector<Value> results(ret->getOperands());
  SmallVector<DictionaryAttr> attrs = {
      builder.getDictionaryAttr(builder.getNamedAttr(
          nn::NNDialect::kRoleAttr, builder.getStringAttr("loss")))};
  for (BlockArgument argument : func.getArguments()) {
    if (!isTrained(func, argument))
      continue;
    results.push_back(grads.lookup(argument));
    attrs.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(nn::NNDialect::kRoleAttr,
                              builder.getStringAttr("gradient")),
         builder.getNamedAttr(nn::NNDialect::kParamAttr,
                              func.getArgAttr(argument.getArgNumber(),
                                              nn::NNDialect::kParamAttr))}));
  }
  ret->setOperands(results);
  func.setType(FunctionType::get(func.getContext(),
                                 func.getFunctionType().getInputs(),
                                 ret->getOperandTypes()));
  func.setAllResultAttrs(attrs);
  func.setName("gradients");
}

LogicalResult Differentiator::run() {
  Block &block = func.getBody().front();
  if (func.getNumResults() != 1 || block.without_terminator().empty())
    return func.emitError() << "@loss must compute one result, the loss, but "
                               "returns "
                            << func.getNumResults() << " values of "
                            << block.getOperations().size() - 1 << " ops";
  Value loss = block.getTerminator()->getOperand(0);
  auto type = cast<RankedTensorType>(loss.getType());
  if (type.getRank() != 0 || type.getEncoding())
    return func.emitError() << "the loss must be a scalar, I on every axis, "
                               "but is "
                            << type;
  findActive();
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  Operation *last = ops.back();
  Value one = nn::create<nn::ConstantOp>(builder, loss.getLoc(),
                                         builder.getF64FloatAttr(1.0),
                                         TypeAttr::get(type.getElementType()));
  if (failed(receive(loss, one)))
    return failure();
  for (Operation *op : llvm::reverse(ops))
    if (failed(backward(op)))
      return failure();
  for (BlockArgument argument : func.getArguments())
    if (isTrained(func, argument) && !grads.lookup(argument))
      return func.emitError() << "the loss does not depend on parameter "
                              << func.getArgAttr(argument.getArgNumber(),
                                                 nn::NNDialect::kParamAttr);
  for (Operation *op = last->getNextNode(); op != block.getTerminator();
       op = op->getNextNode())
    nn::setPhase(op, nn::Phase::Backward);
  returnGradients();
  return success();
}

struct DifferentiatePass
    : tessera::impl::DifferentiatePassBase<DifferentiatePass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> found = nn::findProgram(getOperation(), "loss");
    if (failed(found))
      return signalPassFailure();
    func::FuncOp func = *found;
    if (failed(Differentiator(func).run()))
      signalPassFailure();
  }
};

} // namespace
