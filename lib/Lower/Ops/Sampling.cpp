//===- Sampling.cpp - penalties and candidates become calls ---------------===//

#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Patterns.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

namespace {

/// The rank's indices of the vocabulary.
struct VocabularySlice {
  Value start, valid;
  int64_t total;
};

VocabularySlice vocabularySlice(OpBuilder &b, Operation *op, Value logits) {
  Location loc = op->getLoc();
  int64_t columns = cast<RankedTensorType>(logits.getType()).getDimSize(2);
  std::optional<FactorSpan> span = spanOf(op, 'v');
  if (!span)
    return {i64(b, loc, 0), i64(b, loc, columns), columns};
  return {startOf(b, loc, span), validOf(b, loc, *span), span->total};
}

/// nn.penalize(logits) -> rt.penalize(logits, slice of the vocabulary)
LogicalResult lowerPenalize(nn::PenalizeOp op, PatternRewriter &rewriter) {
  VocabularySlice slice = vocabularySlice(rewriter, op, op.getLogits());
  auto call = rt::PenalizeOp::create(
      rewriter, op.getLoc(), op.getType(), op.getLogits(), op.getTokens(),
      op.getPenalties(), slice.start, slice.valid);
  return replaceMarked(rewriter, op, call);
}

/// nn.top(logits) -> rt.top(logits, slice of the vocabulary)
LogicalResult lowerTop(nn::TopOp op, PatternRewriter &rewriter) {
  VocabularySlice slice = vocabularySlice(rewriter, op, op.getLogits());
  auto call =
      rt::TopOp::create(rewriter, op.getLoc(), op.getType(), op.getLogits(),
                        op.getSharpness(), op.getDraws(), slice.start,
                        slice.valid, rewriter.getI64IntegerAttr(slice.total));
  return replaceMarked(rewriter, op, call);
}

} // namespace

void tessera::populateSamplingPatterns(RewritePatternSet &patterns) {
  patterns.add(lowerPenalize).add(lowerTop);
}
