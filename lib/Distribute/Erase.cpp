//===- Erase.cpp - erases distributions, conversions and masks ------------===//

#include "lib/Distribute/SinkSums.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Distribute/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ERASEPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

void eraseType(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    value.setType(dist::erased(type));
}

/// Returns whether one op repeats another: everything except the phase is the
/// same.
bool repeats(Operation *clone, Operation *op) {
  NamedAttrList left(clone->getDiscardableAttrDictionary());
  NamedAttrList right(op->getDiscardableAttrDictionary());
  left.erase(nn::NNDialect::kPhaseAttr);
  right.erase(nn::NNDialect::kPhaseAttr);
  return clone->getName() == op->getName() && left == right &&
         clone->getPropertiesAsAttribute() == op->getPropertiesAsAttribute() &&
         clone->getOperands() == op->getOperands() &&
         clone->getResultTypes() == op->getResultTypes() &&
         clone->getNumRegions() == 0;
}

/// The earlier op that a clone repeats; null if there is none. Only users of
/// one operand can be it.
Operation *findRepeated(Operation *clone) {
  if (clone->getNumOperands() == 0)
    return nullptr;
  for (Operation *op : clone->getOperand(0).getUsers())
    if (op != clone && op->getBlock() == clone->getBlock() &&
        op->isBeforeInBlock(clone) && repeats(clone, op))
      return op;
  return nullptr;
}

/// Goes in program order, so that operands have been replaced.
void eraseRepeated(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!nn::isRecomputed(op))
      return;
    if (Operation *first = findRepeated(op)) {
      op->replaceAllUsesWith(first);
      op->erase();
    }
  });
}

struct ErasePass : tessera::impl::ErasePassBase<ErasePass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<dist::ConvertOp, dist::MaskOp>(op))
        return;
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    });
    getOperation().walk([](Operation *op) {
      op->removeAttr(dist::DistDialect::kChunkAttr);
      op->removeAttr(dist::DistDialect::kRingAttr);
      for (Value result : op->getResults())
        eraseType(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            eraseType(argument);
    });
    eraseRepeated(getOperation());
    SmallVector<nn::MicroBatchesOp> loops;
    getOperation().walk(
        [&](nn::MicroBatchesOp loop) { loops.push_back(loop); });
    for (nn::MicroBatchesOp loop : loops)
      sinkSums(loop);
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        func.setType(FunctionType::get(
            &getContext(), func.getBody().front().getArgumentTypes(),
            func.getBody().front().getTerminator()->getOperandTypes()));
    getOperation()->removeAttr(dist::DistDialect::kMeshAttr);
    getOperation()->removeAttr(dist::DistDialect::kMaskedAttr);
  }
};

} // namespace
