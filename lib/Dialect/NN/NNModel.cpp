//===- NNModel.cpp - attention, embedding ---------------------------------===//

#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

//===----------------------------------------------------------------------===//
// attention: q "bsnd", k "btnd", v "btnc" -> o "bsnc", lse "bns"; with groups
// of heads q "bsgrd", k "btgd", v "btgc" -> o "bsgrc", lse "bgrs"; bias "en";
// segments "bs" and "bt"
//===----------------------------------------------------------------------===//

static constexpr unsigned kLse = 1;

/// A marked op may have some queries and some keys: it passes keys and values
/// on along the ranks of the axis.
static void addRing(Operation *op, Signature &sig) {
  auto axis = op->getAttrOfType<StringAttr>(dist::DistDialect::kRingAttr);
  if (!axis)
    return;
  sig.ring = "st";
  sig.ringAxis = axis.str();
}

static bool isGrouped(Value query) { return rankOf(query) == 5; }

/// Adds the operands that only some attention has.
template <typename OpTy> static void addOptional(OpTy op, Signature &sig) {
  if (op.getBiasTable())
    sig.ins.push_back("en");
  if (op.getQuerySegments())
    sig.ins.push_back("bs");
  if (op.getKeySegments())
    sig.ins.push_back("bt");
}

Signature AttentionOp::getSignature(unsigned result) {
  bool grouped = isGrouped(getQuery());
  Signature sig = Signature::parse(grouped ? "bsgrd,btgd,btgc->bsgrc"
                                           : "bsnd,btnd,btnc->bsnc");
  sig.whole = "tde";
  addOptional(*this, sig);
  addRing(*this, sig);
  if (result != kLse) {
    sig.linear = {{2}};
    return sig;
  }
  sig.out = grouped ? "bgrs" : "bns";
  sig.unread = {2};
  return sig;
}

Padding AttentionOp::getPadding(unsigned result, char, Paddings p) {
  Padding scores =
      dist::finiteOf({p[0], p[1], getBiasTable() ? p[3] : Padding::Finite});
  return result == kLse ? scores : dist::productOf({scores, p[2]});
}

Type AttentionOp::getResultElementType(unsigned result) {
  Type type = getElementTypeOrSelf(getQuery().getType());
  if (result == kLse && type.isBF16())
    return Float32Type::get(getContext());
  return type;
}

/// Sizes are those of the letters (Signature).
template <typename OpTy> static LogicalResult verifySegments(OpTy op) {
  if (!op.getQuerySegments() == !op.getKeySegments())
    return success();
  return op.emitOpError() << "has segments of "
                          << (op.getQuerySegments() ? "queries" : "keys")
                          << " alone; give those of queries and of keys";
}

/// Chunks of balanced work, of which each rank has two (AttentionMask). The
/// gradient's op has the same shapes; an op with a bias refuses every ring.
static LogicalResult verifyRing(AttentionOp op) {
  auto axis = op->getAttrOfType<StringAttr>(dist::DistDialect::kRingAttr);
  auto key = cast<RankedTensorType>(op.getKey().getType());
  if (!axis || !op.getAttention().getMask().cutsChunks(key.getDimSize(1)) ||
      op.getBiasTable() || dist::stateOf(key, axis).kind != dist::State::S)
    return success();
  dist::MeshAttr mesh = dist::meshOf(op);
  if (!mesh)
    return success(); // Every type that names an axis is refused.
  int64_t ranks = mesh.getSize(axis), tokens = key.getDimSize(1);
  if (tokens % (2 * ranks) == 0)
    return success();
  return op.emitOpError()
         << "is causal: a ring cuts its " << tokens
         << " tokens into two chunks for each of " << ranks
         << " ranks of mesh axis '" << axis.getValue()
         << "'; use a multiple of " << 2 * ranks
         << " tokens, or --context-parallel all-gather or ulysses";
}

/// The runtime reads queries, keys and values in steps of one head size and
/// one element type; other sizes are those of the letters (Signature).
template <typename OpTy> static LogicalResult verifyHeads(OpTy op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto value = cast<RankedTensorType>(op.getValue().getType());
  int64_t size = query.getShape().back(), other = value.getShape().back();
  if (size != other)
    return op.emitOpError() << "has queries and keys of head size " << size
                            << " but values of head size " << other
                            << "; project the values to heads of size " << size;
  return verifyOneElementType(
      op, {"queries", op.getQuery()},
      {{"keys", op.getKey()}, {"values", op.getValue()}});
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyHeads(*this)) ||
      failed(
          verifyBiasTable(*this, getAttention(), getQuery(), getBiasTable())) ||
      failed(verifySegments(*this)) || failed(verifyRing(*this)))
    return failure();
  return verifyProbability(*this, "dropout", getDropout());
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyHeads(*this)) ||
      failed(verifyOneElementType(
          *this, {"queries", getQuery()},
          {{"gradients", getGrad()}, {"outputs", getOutput()}})) ||
      failed(
          verifyBiasTable(*this, getAttention(), getQuery(), getBiasTable())) ||
      failed(verifySegments(*this)))
    return failure();
  if (!getBiasTable() != !getGradBiasTable())
    return emitOpError() << "has a table of biases or its gradient alone; give "
                            "both or none";
  return verifyProbability(*this, "dropout", getDropout());
}

int64_t AttentionOp::getFlops() {
  return attentionFlops(getQuery(), getKey(), getAttention().getMask(), 2);
}

int64_t AttentionGradOp::getFlops() {
  return attentionFlops(getQuery(), getKey(), getAttention().getMask(), 5);
}

void AttentionOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool> wanted,
                                MutableArrayRef<Value> operandGrads) {
  unsigned grads = getBiasTable() ? 4 : 3;
  auto grad = nn::createUntyped<AttentionGradOp>(
      builder, getLoc(), grads, resultGrads[0], getQuery(), getKey(),
      getValue(), getOutput(), getLse(), getBiasTable(), getQuerySegments(),
      getKeySegments(), getAttentionAttr(), getDropoutAttr(), getStreamAttr());
  if (Attribute ring = (*this)->getAttr(dist::DistDialect::kRingAttr))
    grad->setAttr(dist::DistDialect::kRingAttr, ring);
  (void)dist::setResultTypes(grad);
  if (getBiasTable())
    operandGrads[3] = grad.getGradBiasTable();
  operandGrads[0] = grad.getGradQuery();
  operandGrads[1] = grad.getGradKey();
  operandGrads[2] = grad.getGradValue();
}

/// The gradient of the bias table has the table's element type.
Type AttentionGradOp::getResultElementType(unsigned result) {
  constexpr unsigned biasTable = 3;
  Value like = result == biasTable ? getBiasTable() : getGrad();
  return getElementTypeOrSelf(like.getType());
}

/// The signature is linear in the gradient, and in value and output together:
/// the output is linear in the value. The value's own gradient reads neither.
Signature AttentionGradOp::getSignature(unsigned result) {
  static const char *const outs[] = {"bsnd", "btnd", "btnc", "en"};
  static const char *const groupedOuts[] = {"bsgrd", "btgd", "btgc"};
  bool grouped = isGrouped(getQuery());
  Signature sig =
      Signature::parse(grouped ? "bsgrc,bsgrd,btgd,btgc,bsgrc,bgrs->"
                               : "bsnc,bsnd,btnd,btnc,bsnc,bns->");
  sig.out = grouped ? groupedOuts[result] : outs[result];
  sig.whole = "tde";
  addOptional(*this, sig);
  addRing(*this, sig);
  sig.linear = {{0}};
  if (result == 2) {
    sig.unread = {4};
    sig.shapeOnly = {3};
  } else {
    sig.linear.push_back({3, 4});
  }
  return sig;
}

/// The gradients are zero where that of the result is; those of query and key
/// are products with the other of them, which may be zero, too.
Padding AttentionGradOp::getPadding(unsigned result, char, Paddings p) {
  const size_t multiplied = result == 0 ? 2 : result == 1 ? 1 : 0;
  const size_t segments = getBiasTable() ? 7 : 6; // They only choose.
  SmallVector<Padding> factors(p.take_front(segments));
  for (auto [k, padding] : llvm::enumerate(factors))
    if (k != 0 && k != multiplied)
      padding = dist::finiteOf(padding);
  return dist::productOf(factors);
}

//===----------------------------------------------------------------------===//
// embedding: ids "bs", table "vh" -> "bsh"
//===----------------------------------------------------------------------===//

Signature EmbeddingOp::getSignature(unsigned) {
  const bool hasRows =
      cast<RankedTensorType>(getTable().getType()).getRank() != 1;
  Signature sig = Signature::parse(hasRows ? "bs,vh->bsh" : "bs,v->bs");
  sig.linear = {{1}};
  sig.moves = true; // one rank has the row, the others 0
  return sig;
}

/// An id names no padding of the vocabulary: none is read.
Padding EmbeddingOp::getPadding(unsigned, char factor, Paddings p) {
  return factor == 'v' ? Padding::Zero : dist::productOf(p[1]);
}

Type EmbeddingOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getTable().getType());
}

void EmbeddingOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool> wanted,
                                MutableArrayRef<Value> operandGrads) {
  if (!wanted[1])
    return;
  Value grad = resultGrads[0];
  if (IntegerAttr padding = getPaddingAttr()) {
    Value counted = nn::create<CountedOp>(
        builder, getLoc(), getIds(),
        TypeAttr::get(getElementTypeOrSelf(grad.getType())), padding);
    grad = nn::create<EinsumOp>(
        builder, getLoc(), builder.getStringAttr("bsh,bs->bsh"),
        ValueRange{grad, counted}, builder.getF64FloatAttr(1.0), TypeAttr());
  }
  operandGrads[1] = nn::create<EmbeddingGradOp>(builder, getLoc(), grad,
                                                getIds(), getTable());
}

Signature EmbeddingGradOp::getSignature(unsigned) {
  Signature sig = Signature::parse("bsh,bs,vh->vh");
  sig.linear = {{0}};
  sig.shapeOnly = {2};
  sig.addsInChunks = true;
  return sig;
}

Padding EmbeddingGradOp::getPadding(unsigned, char factor, Paddings p) {
  return factor == 'v' ? Padding::Zero : dist::productOf(p[0]);
}

Type EmbeddingGradOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getLike().getType());
}
