//===- NNPointwise.cpp - map, cast, dropout, constant ---------------------===//

#include "tessera/Dialect/NN/Functions.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

static Signature elementwise(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return Signature::elementwise(type.getRank(), op->getNumOperands());
}

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

Signature MapOp::getSignature(unsigned) { return elementwise(*this); }

Padding MapOp::getPadding(unsigned, char, Paddings p) {
  return dist::throughOf(infoOf(getFunction()).padding, p[0]);
}

LogicalResult MapOp::verify() {
  StringRef name = stringifyFunction(getFunction());
  bool takesBound = infoOf(getFunction()).has(FunctionInfo::TakesBound);
  if (takesBound && !getBound())
    return emitOpError() << "has no bound, but '" << name
                         << "' needs one; add {bound = 1.0 : f64}";
  if (!takesBound && getBound())
    return emitOpError() << "has a bound, but '" << name
                         << "' takes none; remove it";
  return success();
}

/// dx = g f'(x), or g y where f' = f.
void MapOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                          ArrayRef<bool> wanted,
                          MutableArrayRef<Value> operandGrads) {
  if (!wanted[0])
    return;
  if (!infoOf(getFunction()).has(FunctionInfo::IsOwnDerivative)) {
    operandGrads[0] = nn::create<MapGradOp>(builder, getLoc(), getFunction(),
                                            resultGrads[0], getInput());
    return;
  }
  std::string letters = elementwise(*this).out;
  operandGrads[0] = nn::create<EinsumOp>(
      builder, getLoc(),
      builder.getStringAttr(letters + "," + letters + "->" + letters),
      ValueRange({resultGrads[0], getOutput()}), builder.getF64FloatAttr(1.0),
      TypeAttr());
}

LogicalResult MapGradOp::verify() {
  if (!infoOf(getFunction()).derivative)
    return emitOpError() << "has no derivative of '"
                         << stringifyFunction(getFunction())
                         << "'; only the optimizer and lowered norms use it, "
                            "after differentiation";
  return success();
}

Signature MapGradOp::getSignature(unsigned) {
  Signature sig = elementwise(*this);
  sig.linear = {{0}};
  return sig;
}

Padding MapGradOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(
      {p[0], dist::throughOf(infoOf(getFunction()).slopePadding, p[1])});
}

//===----------------------------------------------------------------------===//
// cast
//===----------------------------------------------------------------------===//

Signature CastOp::getSignature(unsigned) {
  return elementwise(*this).linearInAll();
}

Padding CastOp::getPadding(unsigned, char, Paddings p) { return p[0]; }

Type CastOp::getResultElementType(unsigned) { return getTo(); }

void CastOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = nn::create<CastOp>(
      builder, getLoc(), resultGrads[0],
      TypeAttr::get(getElementTypeOrSelf(getInput().getType())));
}

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

Signature DropoutOp::getSignature(unsigned) {
  return elementwise(*this).linearInAll();
}

Padding DropoutOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(p[0]);
}

LogicalResult tessera::nn::verifyOneElementType(Operation *op,
                                                const NamedOperand &first,
                                                ArrayRef<NamedOperand> others) {
  Type wanted = getElementTypeOrSelf(first.value.getType());
  for (const NamedOperand &other : others)
    if (Type found = getElementTypeOrSelf(other.value.getType());
        found != wanted)
      return op->emitOpError()
             << "has " << first.name << " of " << wanted << " but "
             << other.name << " of " << found << "; cast them to one type";
  return success();
}

LogicalResult tessera::nn::verifyProbability(Operation *op, StringRef name,
                                             const APFloat &value) {
  double p = value.convertToDouble();
  if (p >= 0 && p < 1)
    return success();
  return op->emitOpError() << "has " << name << " = " << p
                           << "; it must be in [0, 1)";
}

LogicalResult DropoutOp::verify() {
  return verifyProbability(*this, "p", getP());
}

void DropoutOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = nn::create<DropoutOp>(builder, getLoc(), resultGrads[0],
                                          getPAttr(), getStreamAttr());
}

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

Signature ConstantOp::getSignature(unsigned) { return Signature(); }

Padding ConstantOp::getPadding(unsigned, char, Paddings p) {
  return Padding::Finite;
}

Type ConstantOp::getResultElementType(unsigned) { return getElementType(); }
