//===- Dropout.cpp - a model without its dropout --------------------------===//

#include "tessera/Inference/Dropout.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

void tessera::removeDropout(func::FuncOp program) {
  Builder builder(program.getContext());
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    if (auto attention = dyn_cast<nn::AttentionOp>(op))
      attention.setDropoutAttr(builder.getF64FloatAttr(0.0));
    auto dropout = dyn_cast<nn::DropoutOp>(op);
    if (!dropout)
      continue;
    dropout.getOutput().replaceAllUsesWith(dropout.getInput());
    dropout.erase();
  }
}
