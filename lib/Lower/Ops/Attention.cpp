//===- Attention.cpp - attention and its gradient become calls ------------===//

#include "lib/Lower/AttentionOperands.h"
#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Patterns.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

namespace {

/// The start of the rank's queries in the sequence; no scalar if it has all.
struct QuerySlice {
  Value start;
  int64_t total = 0;
};

QuerySlice querySlice(OpBuilder &builder, Operation *op) {
  if (std::optional<FactorSpan> span = spanOf(op, 's'))
    return {startOf(builder, op->getLoc(), span), span->total};
  return {};
}

/// nn.attention(q, k, v) -> rt.attention(q, k, v, slices of the rank)
LogicalResult lowerAttention(nn::AttentionOp op, PatternRewriter &b) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  StringRef why = whyNotNeighbours(op, q, !op.getDropout().isZero());
  if (!why.empty())
    return b.notifyMatchFailure(op, Twine(why));
  auto i = [&](int64_t x) { return b.getI64IntegerAttr(x); };
  int64_t batch = cast<RankedTensorType>(q.getType()).getDimSize(0);
  QuerySlice slice = querySlice(b, op);
  HeadRange heads = headRange(b, op, q);
  auto call = rt::AttentionOp::create(
      b, op.getLoc(), op.getResultTypes(), q, k, v, batchStart(b, op, batch),
      heads.start, i(rowStride(q)), i(rowStride(k)), i(rowStride(v)),
      i(heads.total), op.getAttentionAttr(), op.getDropoutAttr(),
      op.getStreamAttr(), slice.start, i(slice.total), op.getBiasTable(),
      op.getQuerySegments(), op.getKeySegments());
  return replaceMarked(b, op, call);
}

/// Gradients that a stack concatenates are written in place, with its row
/// stride.
int64_t gradStride(Value grad) {
  int64_t row = rowElements(grad);
  if (!grad.hasOneUse())
    return row;
  auto stack = dyn_cast<nn::StackOp>(*grad.user_begin());
  return stack && stack.getDim() == 2 ? row * stack.getInputs().size() : row;
}

/// nn.attention_grad(g, q, k, v) -> rt.attention_grad(g, q, k, v, slices of the
/// rank)
LogicalResult lowerAttentionGrad(nn::AttentionGradOp op, PatternRewriter &b) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  StringRef why = whyNotNeighbours(op, q, !op.getDropout().isZero());
  if (!why.empty())
    return b.notifyMatchFailure(op, Twine(why));
  auto i = [&](int64_t x) { return b.getI64IntegerAttr(x); };
  int64_t batch = cast<RankedTensorType>(q.getType()).getDimSize(0);
  QuerySlice slice = querySlice(b, op);
  HeadRange heads = headRange(b, op, q);
  auto call = rt::AttentionGradOp::create(
      b, op.getLoc(), op.getResultTypes(), op.getGrad(), q, k, v,
      op.getOutput(), op.getLse(), batchStart(b, op, batch), heads.start,
      i(rowStride(q)), i(rowStride(k)), i(rowStride(v)),
      i(gradStride(op.getGradQuery())), i(gradStride(op.getGradKey())),
      i(gradStride(op.getGradValue())), i(heads.total), op.getAttentionAttr(),
      op.getDropoutAttr(), op.getStreamAttr(), slice.start, i(slice.total),
      op.getBiasTable(), op.getQuerySegments(), op.getKeySegments());
  inheritPhase(call, op);
  b.replaceOp(op, call);
  return success();
}

} // namespace

void tessera::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add(lowerAttention).add(lowerAttentionGrad);
}
