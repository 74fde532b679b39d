//===- Experts.cpp - mixtures of experts become calls ---------------------===//

#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Patterns.h"

using namespace mlir;
using namespace tessera;
using rt::RoutedKind;

namespace {

/// The work of an op on routed rows.
struct RoutedWork {
  RoutedKind kind;
  bool weighted = false, transposed = false;
};

RoutedWork workOf(nn::TopKOp) { return {RoutedKind::TopK}; }
RoutedWork workOf(nn::DispatchOp op) {
  return {RoutedKind::Dispatch, op.getWeighted()};
}
RoutedWork workOf(nn::CollectOp op) {
  return {RoutedKind::Collect, op.getWeighted()};
}
RoutedWork workOf(nn::CollectGradGatesOp) {
  return {RoutedKind::CollectGradGates};
}
RoutedWork workOf(nn::ExpertLinearOp op) {
  return {RoutedKind::Product, false, op.getTransposed()};
}
RoutedWork workOf(nn::ExpertLinearGradWeightOp) {
  return {RoutedKind::ProductGradWeight};
}

/// nn.dispatch(rows, gates) -> rt.routed dispatch(rows, gates), and so on: the
/// call computes only rows that the gates, its last operand, route. The op that
/// makes the gates says how many these are, so it is lowered later.
template <typename OpTy> struct LowerRouted : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    constexpr bool makesGates = std::is_same_v<OpTy, nn::TopKOp>;
    Value gates =
        makesGates ? op->getResult(0) : Value(op->getOperands().back());
    nn::RoutedShare share = nn::routedShare(gates);
    RoutedWork work = workOf(op);
    auto routed = rt::RoutedOp::create(
        rewriter, op->getLoc(), op->getResult(0).getType(), work.kind,
        op->getOperands(), static_cast<uint64_t>(share.k),
        static_cast<uint64_t>(share.total), work.weighted, work.transposed);
    return replaceMarked(rewriter, op, routed);
  }
};

} // namespace

void tessera::populateExpertPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRouted<nn::TopKOp>, LowerRouted<nn::DispatchOp>,
               LowerRouted<nn::CollectOp>, LowerRouted<nn::CollectGradGatesOp>,
               LowerRouted<nn::ExpertLinearOp>,
               LowerRouted<nn::ExpertLinearGradWeightOp>>(
      patterns.getContext());
}
