//===- Recompute.cpp - computes forward values again in backward ----------===//

#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/KeptValues.h"
#include "tessera/Distribute/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct RecomputePass : tessera::impl::RecomputePassBase<RecomputePass> {
  using RecomputePassBase::RecomputePassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> func = nn::findProgram(getOperation(), "gradients");
    if (failed(func) || failed(check(*func)))
      return signalPassFailure();
    if (mode == "none")
      return;
    Repetition repetition;
    if (mode == "gathers")
      repetition.kind = Repetition::Gathers;
    if (mode == "full")
      repetition.layers = layers;
    again = valuesToRecompute(*func, repetition);
    for (Operation &op : llvm::make_early_inc_range(func->getBody().front()))
      if (nn::phaseOf(&op) == nn::Phase::Backward)
        for (OpOperand &operand : op.getOpOperands())
          if (again.contains(operand.get()) && readsElements(operand))
            operand.set(cloneFor(operand));
  }

  LogicalResult check(func::FuncOp func);
  Value cloneFor(OpOperand &operand);
  Operation *placeFor(OpOperand &operand, ArrayRef<Operation *> ops);

  llvm::DenseSet<Value> again;
  IRMapping clones;
};

LogicalResult RecomputePass::check(func::FuncOp func) {
  if (!llvm::is_contained({"none", "gathers", "selective", "full"},
                          mode.getValue()))
    return func.emitError() << "cannot recompute '" << mode.getValue()
                            << "'; use none, gathers, selective or full";
  if (mode == "full" && layersOf(func).empty())
    return func.emitError() << "has no layers to recompute: no location names "
                               "one; use mode=selective";
  return success();
}

/// Where the clones of `ops` stand, the last of which makes what the operand's
/// owner reads. A gather is made as soon as its reader's other operands are, so
/// that it runs beside the product for the gradient of the input. Others are
/// made right before the reader.
Operation *RecomputePass::placeFor(OpOperand &operand,
                                   ArrayRef<Operation *> ops) {
  Operation *reader = operand.getOwner(), *last = nullptr;
  auto gather = dyn_cast_or_null<dist::ConvertOp>(ops.back());
  if (!gather || gather.getKind() != dist::ConversionKind::AllGather)
    return reader;
  auto follow = [&](Value value) {
    Operation *made = value ? value.getDefiningOp() : nullptr;
    if (made && !nn::isForward(made) && (!last || last->isBeforeInBlock(made)))
      last = made;
  };
  for (Value other : reader->getOperands())
    follow(other);
  for (Operation *op : ops)
    for (Value source : op->getOperands())
      follow(clones.lookupOrNull(source));
  return last ? last->getNextNode() : reader;
}

/// The clone of a value and of all that it is computed from, each made once, in
/// the order of the forward program.
Value RecomputePass::cloneFor(OpOperand &operand) {
  Value value = operand.get();
  if (Value known = clones.lookupOrNull(value))
    return known;
  SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t next = 0; next < ops.size(); ++next)
    for (OpOperand &source : ops[next]->getOpOperands())
      if (again.contains(source.get()) && !clones.contains(source.get()))
        ops.insert(source.get().getDefiningOp());
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(placeFor(operand, ordered));
  for (Operation *op : ordered) {
    Operation *clone = builder.clone(*op, clones);
    nn::setPhase(clone, nn::Phase::Recompute);
  }
  return clones.lookup(value);
}

} // namespace
