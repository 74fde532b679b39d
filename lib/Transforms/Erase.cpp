//===- Erase.cpp - erases every distribution and conversion ---------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Transforms/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ERASEPASS
#include "tessera/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

void eraseType(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    value.setType(dist::erased(type));
}

struct ErasePass : tessera::impl::ErasePassBase<ErasePass> {
  void runOnOperation() override {
    getOperation().walk([](dist::ConvertOp op) {
      op.getOutput().replaceAllUsesWith(op.getInput());
      op.erase();
    });
    getOperation().walk([](Operation *op) {
      for (Value result : op->getResults())
        eraseType(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            eraseType(argument);
    });
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        func.setType(FunctionType::get(
            &getContext(), func.getBody().front().getArgumentTypes(),
            func.getBody().front().getTerminator()->getOperandTypes()));
    getOperation()->removeAttr(dist::DistDialect::kMeshAttr);
  }
};

} // namespace
