//===- NNExperts.cpp - routing and products of experts --------------------===//
// gates "bsx"; tokens "bsh"; rows "xbsh".
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

static Signature parseLinear(StringRef spec, ArrayRef<unsigned> operands) {
  Signature sig = Signature::parse(spec);
  for (unsigned k : operands)
    sig.linear.push_back({k});
  return sig;
}

/// Finds the share of gates through ops that make gates of other gates, which
/// are conversions and collectives.
RoutedShare tessera::nn::routedShare(Value gates) {
  while (Operation *op = gates.getDefiningOp()) {
    if (auto route = dyn_cast<TopKOp>(op))
      return {static_cast<int64_t>(route.getK()),
              cast<RankedTensorType>(route.getType()).getShape().back()};
    if (op->getNumOperands() == 0 ||
        !isa<RankedTensorType>(op->getOperand(0).getType()))
      break;
    gates = op->getOperand(0);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// top_k, routed
//===----------------------------------------------------------------------===//

Signature TopKOp::getSignature(unsigned) {
  Signature sig = Signature::parse("bsx->bsx");
  sig.whole = "x";
  return sig;
}

Padding TopKOp::getPadding(unsigned, char, Paddings p) {
  return dist::finiteOf(p[0]);
}

LogicalResult TopKOp::verify() {
  int64_t experts =
      cast<RankedTensorType>(getLogits().getType()).getShape().back();
  int64_t k = getK();
  if (k <= experts)
    return success();
  return emitOpError() << "routes each token to " << k << " of " << experts
                       << " experts; use at most " << experts;
}

/// A rounded gate could make another token's gate 0, or not 0.
Type TopKOp::getResultElementType(unsigned) { return elementOf(getLogits()); }
void TopKOp::setResultElementType(Type) {}

/// dl = g dg - g sum(g dg)
void TopKOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> operandGrads) {
  if (!wanted[0])
    return;
  Value g = getOutput(), dg = resultGrads[0];
  auto product = [&](StringRef spec, ValueRange inputs) {
    return nn::create<EinsumOp>(builder, getLoc(), builder.getStringAttr(spec),
                                inputs, builder.getF64FloatAttr(1.0),
                                TypeAttr());
  };
  Value sum = product("bsx,bsx->bs", {g, dg});
  Value centered = nn::create<AddOp>(
      builder, getLoc(), builder.getStringAttr("bsx,bs->bsx"),
      ValueRange({dg, sum}), builder.getDenseF64ArrayAttr({1, -1}));
  operandGrads[0] = product("bsx,bsx->bsx", {g, centered});
}

Signature RoutedOp::getSignature(unsigned) {
  return Signature::parse("bsx->bsx");
}

Padding RoutedOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(p[0]);
}

//===----------------------------------------------------------------------===//
// dispatch, collect
//===----------------------------------------------------------------------===//

Signature DispatchOp::getSignature(unsigned) {
  return parseLinear("bsh,bsx->xbsh", {0});
}

Padding DispatchOp::getPadding(unsigned, char, Paddings p) {
  return dist::selectOf(p[1], getWeighted() ? dist::productOf(p) : p[0]);
}

bool DispatchOp::readsRoutedRows(unsigned) { return false; }

void DispatchOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                               ArrayRef<bool> wanted,
                               MutableArrayRef<Value> operandGrads) {
  if (wanted[0])
    operandGrads[0] = nn::create<CollectOp>(builder, getLoc(), resultGrads[0],
                                            getGates(), getWeightedAttr());
  if (wanted[1] && getWeighted())
    operandGrads[1] = nn::create<CollectGradGatesOp>(
        builder, getLoc(), getTokens(), resultGrads[0], getGates());
}

Signature CollectOp::getSignature(unsigned) {
  return parseLinear("xbsh,bsx->bsh", {0});
}

Padding CollectOp::getPadding(unsigned, char, Paddings p) {
  return dist::selectOf(p[1], getWeighted() ? dist::productOf(p) : p[0]);
}

bool CollectOp::readsRoutedRows(unsigned operand) { return operand == 0; }

void CollectOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operandGrads) {
  if (wanted[0])
    operandGrads[0] = nn::create<DispatchOp>(builder, getLoc(), resultGrads[0],
                                             getGates(), getWeightedAttr());
  if (wanted[1] && getWeighted())
    operandGrads[1] = nn::create<CollectGradGatesOp>(
        builder, getLoc(), resultGrads[0], getRows(), getGates());
}

Signature CollectGradGatesOp::getSignature(unsigned) {
  return parseLinear("bsh,xbsh,bsx->bsx", {0, 1});
}

Padding CollectGradGatesOp::getPadding(unsigned, char, Paddings p) {
  return dist::selectOf(p[2], dist::productOf({p[0], p[1]}));
}

bool CollectGradGatesOp::readsRoutedRows(unsigned operand) {
  return operand == 1;
}

Type CollectGradGatesOp::getResultElementType(unsigned) {
  return elementOf(getGates());
}

//===----------------------------------------------------------------------===//
// expert_linear: rows "xbsk", weight "xnk" or "xkn", gates "bsx" -> "xbsn";
// scales "xn" before the gates
//===----------------------------------------------------------------------===//

LogicalResult ExpertLinearOp::verify() {
  bool isInteger = elementOf(getWeight()).isInteger(8);
  if (isInteger == bool(getScales()))
    return success();
  return emitOpError() << "has a weight of " << elementOf(getWeight())
                       << " with" << (isInteger ? "out" : "")
                       << " scales; weights of i8 have scales, and no others";
}

Signature ExpertLinearOp::getSignature(unsigned) {
  StringRef rowsAndWeight = getTransposed() ? "xbsk,xkn" : "xbsk,xnk";
  if (getScales())
    return parseLinear((rowsAndWeight + ",xn,bsx->xbsn").str(), {0, 1, 2});
  return parseLinear((rowsAndWeight + ",bsx->xbsn").str(), {0, 1});
}

Padding ExpertLinearOp::getPadding(unsigned, char, Paddings p) {
  return dist::selectOf(p.back(), dist::productOf(p.drop_back()));
}

bool ExpertLinearOp::readsRoutedRows(unsigned operand) { return operand == 0; }

Type ExpertLinearOp::getResultElementType(unsigned) {
  return getElementType().value_or(elementOf(getRows()));
}

void ExpertLinearOp::setResultElementType(Type type) { setElementType(type); }
bool ExpertLinearOp::mayRoundOperands(bool) { return true; }
void ExpertLinearOp::setOperandRounding(Type type) { setCompute(type); }

/// Counts the multiply-adds of the routed rows.
static int64_t productFlops(Value rows, int64_t columns, Value gates) {
  RoutedShare share = routedShare(gates);
  int64_t elements = cast<RankedTensorType>(rows.getType()).getNumElements();
  return 2 * elements * columns / share.total * share.k;
}

int64_t ExpertLinearOp::getFlops() {
  auto type = cast<RankedTensorType>(getOutput().getType());
  return productFlops(getRows(), type.getShape().back(), getGates());
}

void ExpertLinearOp::buildBackward(OpBuilder &builder,
                                   ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0], rows = getRows(), weight = getWeight();
  if (wanted[0])
    operandGrads[0] = nn::create<ExpertLinearOp>(
        builder, getLoc(), dy, weight, /*scales=*/Value(), getGates(),
        getTransposed() ? UnitAttr() : builder.getUnitAttr(),
        TypeAttr::get(elementOf(rows)), getComputeAttr());
  if (wanted[1])
    operandGrads[1] = nn::create<ExpertLinearGradWeightOp>(
        builder, getLoc(), getTransposed() ? rows : dy,
        getTransposed() ? dy : rows, getGates(),
        TypeAttr::get(elementOf(weight)), getComputeAttr());
}

Signature ExpertLinearGradWeightOp::getSignature(unsigned) {
  return parseLinear("xbsn,xbsk,bsx->xnk", {0, 1});
}

Padding ExpertLinearGradWeightOp::getPadding(unsigned, char, Paddings p) {
  return dist::selectOf(p[2], dist::productOf({p[0], p[1]}));
}

bool ExpertLinearGradWeightOp::readsRoutedRows(unsigned operand) {
  return operand < 2;
}

Type ExpertLinearGradWeightOp::getResultElementType(unsigned) {
  return getElementType().value_or(elementOf(getRows()));
}

int64_t ExpertLinearGradWeightOp::getFlops() {
  auto type = cast<RankedTensorType>(getRows().getType());
  return productFlops(getGrad(), type.getShape().back(), getGates());
}
