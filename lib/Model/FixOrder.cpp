//===- FixOrder.cpp - prepares sums for a fixed order ---------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Model/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_FIXORDERPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

bool contracts(nn::EinsumOp op) {
  dist::Signature sig = op.getSignature(0);
  return llvm::any_of(sig.ins, [&](StringRef letters) {
    return letters.find_first_not_of(sig.out) != StringRef::npos;
  });
}

/// scale * sum x -> scale * (sum x): scale factors are applied after
/// the reduction of partial sums.
void splitScale(nn::EinsumOp op) {
  std::string out = dist::Signature::parse(op.getSpec()).out;
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  auto scaled = nn::create<nn::EinsumOp>(
      builder, op.getLoc(), builder.getStringAttr(out + "->" + out),
      ValueRange(op.getOutput()), op.getScaleAttr(), TypeAttr());
  if (Attribute tag = op->removeAttr(nn::NNDialect::kTagAttr))
    scaled->setAttr(nn::NNDialect::kTagAttr, tag);
  op.setScaleAttr(builder.getF64FloatAttr(1.0));
  op.getOutput().replaceAllUsesExcept(scaled.getOutput(), scaled);
}

/// Refuses ops that add over the batch in a kernel of their own.
LogicalResult check(Operation *op) {
  if (isa<nn::RoutedOpInterface>(op))
    return op->emitOpError() << "adds in an order that the mesh decides; "
                                "--layout-invariant supports models without "
                                "experts";
  if (auto attention = dyn_cast<nn::AttentionOp>(op))
    if (attention.getBiasTable())
      return op->emitOpError() << "has a table of biases, whose gradient adds "
                                  "over the batch in an order of its own; "
                                  "--layout-invariant supports attention "
                                  "without";
  return success();
}

struct FixOrderPass : tessera::impl::FixOrderPassBase<FixOrderPass> {
  using FixOrderPassBase::FixOrderPassBase;

  void runOnOperation() override {
    if (chunks < 1 || !llvm::isPowerOf2_64(chunks)) {
      getOperation().emitError() << "cannot add " << chunks.getValue()
                                 << " chunks as a balanced tree; use a power "
                                    "of 2, e.g. 8";
      return signalPassFailure();
    }
    SmallVector<nn::EinsumOp> scaled;
    WalkResult walked = getOperation().walk([&](Operation *op) {
      if (failed(check(op)))
        return WalkResult::interrupt();
      auto einsum = dyn_cast<nn::EinsumOp>(op);
      if (einsum && contracts(einsum) && !einsum.getScale().isExactlyValue(1.0))
        scaled.push_back(einsum);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (nn::EinsumOp op : scaled)
      splitScale(op);
    getOperation()->setAttr(dist::DistDialect::kInvariantAttr,
                            Builder(&getContext()).getI64IntegerAttr(chunks));
  }
};

} // namespace
