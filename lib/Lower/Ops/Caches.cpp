//===- Caches.cpp - ops on caches of keys and values become calls ---------===//

#include "lib/Lower/AttentionOperands.h"
#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Patterns.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

namespace {

/// The places of a cache that a rank holds, of those that are dealt to `deal`
/// ranks.
struct DealtPlaces {
  DealtPlaces(Operation *op, Value cache, uint64_t deal)
      : span(spanOf(op, 'p')), deal(static_cast<int64_t>(deal)) {
    total = chunk = cast<RankedTensorType>(cache.getType()).getDimSize(2);
    if (span) {
      total = span->total;
      chunk = span->chunk();
    }
  }
  /// Returns whether as many ranks share the places as they are dealt to.
  bool areShared() const { return chunk * deal == total; }
  /// The first place of the rank, null if it has all.
  Value start(OpBuilder &b, Location loc) const {
    return deal == 1 ? Value() : startOf(b, loc, span);
  }

  std::optional<FactorSpan> span;
  int64_t deal, total, chunk;
};

LogicalResult refuseDeal(PatternRewriter &rewriter, Operation *op,
                         const DealtPlaces &places) {
  return rewriter.notifyMatchFailure(op, [&](Diagnostic &why) {
    why << "deals " << places.total << " places to " << places.deal
        << " ranks, but a rank holds " << places.chunk
        << "; use a mesh with as many ranks to share them, and a multiple of "
           "these as places";
  });
}

/// nn.append(cache, rows) -> rt.append(cache, rows, first place of the rank)
LogicalResult lowerAppend(nn::AppendOp op, PatternRewriter &b) {
  DealtPlaces places(op, op.getCache(), op.getDeal());
  if (!places.areShared())
    return refuseDeal(b, op, places);
  auto call = rt::AppendOp::create(
      b, op.getLoc(), op.getType(), op.getCache(), op.getRows(), op.getSlots(),
      op.getPositions(), b.getI64IntegerAttr(rowStride(op.getRows())),
      op.getDealAttr(), places.start(b, op.getLoc()));
  return replaceMarked(b, op, call);
}

/// nn.cached_attention(q, caches) -> rt.cached_attention(q, caches, first place
/// of the rank)
LogicalResult lowerCachedAttention(nn::CachedAttentionOp op,
                                   PatternRewriter &b) {
  DealtPlaces places(op, op.getKeys(), op.getDeal());
  if (!places.areShared())
    return refuseDeal(b, op, places);
  auto call = rt::CachedAttentionOp::create(
      b, op.getLoc(), op.getType(), op.getQuery(), op.getKeys(), op.getValues(),
      op.getSlots(), op.getPositions(),
      b.getI64IntegerAttr(rowStride(op.getQuery())), op.getAttentionAttr(),
      op.getDealAttr(), places.start(b, op.getLoc()), op.getWeightedAttr(),
      op.getBiasTable());
  return replaceMarked(b, op, call);
}

} // namespace

void tessera::populateCachePatterns(RewritePatternSet &patterns) {
  patterns.add(lowerAppend).add(lowerCachedAttention);
}
