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
    RepeatedLayers repeated;
    if (mode == "full")
      repeated.count = layers;
    again = valuesToRecompute(*func, repeated);
    for (Operation &op : llvm::make_early_inc_range(func->getBody().front()))
      if (nn::phaseOf(&op) == nn::Phase::Backward)
        for (OpOperand &operand : op.getOpOperands())
          if (again.contains(operand.get()) && readsElements(operand))
            operand.set(cloneBefore(&op, operand.get()));
  }

  LogicalResult check(func::FuncOp func);
  Value cloneBefore(Operation *reader, Value value);

  llvm::DenseSet<Value> again;
  IRMapping clones;
};

LogicalResult RecomputePass::check(func::FuncOp func) {
  if (!llvm::is_contained({"none", "selective", "full"}, mode.getValue()))
    return func.emitError() << "cannot recompute '" << mode.getValue()
                            << "'; use none, selective or full";
  if (mode == "full" && layersOf(func).empty())
    return func.emitError() << "has no layers to recompute: no location names "
                               "one; use mode=selective";
  return success();
}

/// The clone of a value and of all that it is computed from, each made once, in
/// the order of the forward program.
Value RecomputePass::cloneBefore(Operation *reader, Value value) {
  SetVector<Operation *> ops;
  if (!clones.contains(value))
    ops.insert(value.getDefiningOp());
  for (size_t next = 0; next < ops.size(); ++next)
    for (OpOperand &operand : ops[next]->getOpOperands())
      if (again.contains(operand.get()) && !clones.contains(operand.get()))
        ops.insert(operand.get().getDefiningOp());
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(reader);
  for (Operation *op : ordered) {
    Operation *clone = builder.clone(*op, clones);
    nn::setPhase(clone, nn::Phase::Recompute);
  }
  return clones.lookup(value);
}

} // namespace
