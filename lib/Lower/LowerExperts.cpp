//===- LowerExperts.cpp - mixtures of experts become calls ----------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_LOWEREXPERTSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using rt::RoutedKind;

namespace {

/// The work of an op on routed rows; its gates are its last operand.
struct Work {
  RoutedKind kind;
  bool weighted = false, transposed = false;
};

std::optional<Work> workOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Work>>(op)
      .Case([](nn::TopKOp) { return Work{RoutedKind::TopK}; })
      .Case([](nn::DispatchOp d) {
        return Work{RoutedKind::Dispatch, d.getWeighted()};
      })
      .Case([](nn::CollectOp c) {
        return Work{RoutedKind::Collect, c.getWeighted()};
      })
      .Case([](nn::CollectGradGatesOp) {
        return Work{RoutedKind::CollectGradGates};
      })
      .Case([](nn::ExpertLinearOp e) {
        return Work{RoutedKind::Product, false, e.getTransposed()};
      })
      .Case([](nn::ExpertLinearGradWeightOp) {
        return Work{RoutedKind::ProductGradWeight};
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the experts of a token, of all of them. What makes gates is above in
/// the program, or is this op.
nn::RoutedShare shareOf(Operation *op) {
  if (isa<nn::TopKOp>(op))
    return nn::routedShare(op->getResult(0));
  return nn::routedShare(op->getOperands().back());
}

void lower(Operation *op, Work work, nn::RoutedShare share) {
  OpBuilder b(op);
  auto routed = rt::RoutedOp::create(
      b, op->getLoc(), op->getResult(0).getType(), work.kind, op->getOperands(),
      static_cast<uint64_t>(share.k), static_cast<uint64_t>(share.total),
      work.weighted, work.transposed);
  inheritMarks(routed, op);
  op->replaceAllUsesWith(routed);
  op->erase();
}

struct LowerExpertsPass
    : tessera::impl::LowerExpertsPassBase<LowerExpertsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (workOf(op))
        ops.push_back(op);
    });
    // From the end: gates are traced to an nn.top_k that is still there.
    for (Operation *op : llvm::reverse(ops))
      lower(op, *workOf(op), shareOf(op));
    if (ops.empty())
      markAllAnalysesPreserved();
  }
};

} // namespace
