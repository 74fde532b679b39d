//===- NNRMSNorm.cpp - rms_norm and its gradients -------------------------===//
// x "..h", weight "h"; h stays whole.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Signature;

/// `operands` tensors like `x`; the last dimension stays whole.
static Signature normalized(Value x, unsigned operands) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Signature sig = Signature::elementwise(rank, operands);
  sig.whole = sig.out.back();
  return sig;
}

Signature RMSNormOp::getSignature(unsigned) {
  Signature sig = normalized(getInput(), 1);
  sig.ins.push_back(sig.whole);
  sig.linear = {{1}};
  return sig;
}

Type RMSNormOp::getResultElementType(unsigned) {
  return getElementType().value_or(getElementTypeOrSelf(getInput().getType()));
}

void RMSNormOp::setResultElementType(Type type) { setElementType(type); }

/// What is normalized is a residual stream: it keeps its precision.
bool RMSNormOp::mayRoundOperands(bool) { return false; }

void RMSNormOp::setOperandRounding(Type) {}

void RMSNormOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operandGrads) {
  Value g = resultGrads[0];
  if (wanted[0])
    operandGrads[0] = nn::create<RMSNormGradInputOp>(
        builder, getLoc(), g, getInput(), getWeight(), getEpsilonAttr());
  if (wanted[1])
    operandGrads[1] = nn::create<RMSNormGradWeightOp>(
        builder, getLoc(), g, getInput(), getEpsilonAttr());
}

Signature RMSNormGradInputOp::getSignature(unsigned) {
  Signature sig = normalized(getInput(), 2);
  sig.ins.push_back(sig.whole);
  sig.linear = {{0}, {2}};
  return sig;
}

Type RMSNormGradInputOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getInput().getType());
}

Signature RMSNormGradWeightOp::getSignature(unsigned) {
  Signature sig = normalized(getInput(), 2);
  sig.out = sig.whole;
  sig.linear = {{0}};
  sig.addsInChunks = true;
  return sig;
}

Type RMSNormGradWeightOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getInput().getType());
}
