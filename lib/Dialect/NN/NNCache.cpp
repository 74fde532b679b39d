//===- NNCache.cpp - append, cached attention, take -----------------------===//
// Letters: b lanes, s rows, t slots, p places, n heads or g key heads with r
// query heads each, d head size, m rows that are taken, k buckets of distances.
// Slots are numbers of the whole cache: they stay whole.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Groups of heads are the query's alone.
static LogicalResult verifyRank(Operation *op, Value rows, int64_t rank) {
  if (typeOf(rows).getRank() == rank)
    return success();
  return op->emitOpError() << "has rows of rank " << typeOf(rows).getRank()
                           << "; it must be " << rank
                           << ": lanes, rows, heads, head size";
}

//===----------------------------------------------------------------------===//
// append
//===----------------------------------------------------------------------===//

Signature AppendOp::getSignature(unsigned) {
  Signature sig = Signature::parse("btpgd,bsgd,bs,bs->btpgd");
  sig.linear = {{0, 1}};
  sig.whole = "st";
  return sig;
}

Padding AppendOp::getPadding(unsigned, char factor, Paddings p) {
  return dist::joinOf({p[0], p[1]});
}

Type AppendOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getCache().getType());
}

LogicalResult AppendOp::verify() {
  if (failed(verifyRank(*this, getRows(), 4)))
    return failure();
  Type stored = getElementTypeOrSelf(getCache().getType());
  Type made = getElementTypeOrSelf(getRows().getType());
  if (stored == made)
    return success();
  return emitOpError() << "appends rows of " << made << " to a cache of "
                       << stored << "; both must be of one type";
}

//===----------------------------------------------------------------------===//
// cached_attention
//===----------------------------------------------------------------------===//

Signature CachedAttentionOp::getSignature(unsigned) {
  bool isGrouped = typeOf(getQuery()).getRank() == 5;
  Signature sig = Signature::parse(isGrouped ? "bsgrd,btpgd,btpge,bs,bs->bsgre"
                                             : "bsgd,btpgd,btpge,bs,bs->bsge");
  sig.whole = "dt";
  if (getBiasTable()) {
    sig.ins.push_back("kg");
    sig.whole += "k";
  }
  if (getWeighted()) {
    sig.out.back() = 'w';
    sig.whole += "pe"; // its parts are means, not values of one
    return sig;
  }
  sig.linear = {{2}};
  sig.reduces = dist::State::L;
  return sig;
}

int64_t CachedAttentionOp::getNewFactorSize(char factor) {
  return factor == 'w' ? typeOf(getValues()).getShape().back() + 1 : -1;
}

Type CachedAttentionOp::getResultElementType(unsigned) {
  Type element = getElementTypeOrSelf(getQuery().getType());
  bool isNarrow =
      element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 32;
  return getWeighted() && isNarrow ? Float32Type::get(getContext()) : element;
}

Padding CachedAttentionOp::getPadding(unsigned, char, Paddings p) {
  Padding bias = getBiasTable() ? p.back() : Padding::Finite;
  return dist::productOf({dist::finiteOf({p[0], p[1], bias}), p[2]});
}

int64_t CachedAttentionOp::getFlops() {
  return cachedAttentionFlops(getQuery(), getKeys(), getAttention().getMask());
}

LogicalResult CachedAttentionOp::verify() {
  if (failed(verifyCausalBiasTable(*this, getAttention(), getQuery(),
                                   getBiasTable())) ||
      failed(
          verifyOneElementType(*this, {"queries", getQuery()},
                               {{"keys", getKeys()}, {"values", getValues()}})))
    return failure();
  if (typeOf(getKeys()).getShape() != typeOf(getValues()).getShape())
    return emitOpError() << "has keys of type " << getKeys().getType()
                         << " and values of type " << getValues().getType()
                         << "; both must have one shape";
  return success();
}

//===----------------------------------------------------------------------===//
// take: x "bsh", numbers "bm" -> "bmh"
//===----------------------------------------------------------------------===//

Signature TakeOp::getSignature(unsigned) {
  Signature sig = Signature::parse("bsh,bm->bmh");
  sig.linear = {{0}};
  sig.whole = "s";
  return sig;
}

Padding TakeOp::getPadding(unsigned, char, Paddings p) {
  return dist::joinOf({Padding::Zero, dist::productOf(p[0])});
}
