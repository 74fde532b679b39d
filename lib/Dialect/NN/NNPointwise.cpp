//===- NNPointwise.cpp - map, cast, dropout, constant ---------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Signature;

static Signature elementwise(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return Signature::elementwise(type.getRank(), op->getNumOperands());
}

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

Signature MapOp::getSignature(unsigned) { return elementwise(*this); }

bool tessera::nn::hasBound(Function function) {
  return function == Function::ClipFactor || function == Function::Rsqrt;
}

LogicalResult MapOp::verify() {
  StringRef name = stringifyFunction(getFunction());
  if (hasBound(getFunction()) && !getBound())
    return emitOpError() << "has no bound, but '" << name
                         << "' needs one; add {bound = 1.0 : f64}";
  if (!hasBound(getFunction()) && getBound())
    return emitOpError() << "has a bound, but '" << name
                         << "' takes none; remove it";
  return success();
}

/// dx = g f'(x); exp reads its result, which is at hand anyway.
void MapOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                          ArrayRef<bool> wanted,
                          MutableArrayRef<Value> operandGrads) {
  if (!wanted[0])
    return;
  if (getFunction() != Function::Exp) {
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
  if (hasBound(getFunction()))
    return emitOpError() << "has no derivative of '"
                         << stringifyFunction(getFunction())
                         << "'; only the optimizer and lowered norms use it, "
                            "behind differentiation";
  return success();
}

Signature MapGradOp::getSignature(unsigned) {
  Signature sig = elementwise(*this);
  sig.linear = {{0}};
  return sig;
}

//===----------------------------------------------------------------------===//
// cast
//===----------------------------------------------------------------------===//

Signature CastOp::getSignature(unsigned) {
  return elementwise(*this).linearInAll();
}

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

Type ConstantOp::getResultElementType(unsigned) { return getElementType(); }
