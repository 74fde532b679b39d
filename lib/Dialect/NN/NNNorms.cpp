//===- NNNorms.cpp - layer_norm, rms_norm and their gradients -------------===//
// x "..h", weight "h", bias "h"; h stays whole.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

/// Returns the signature of `operands` tensors like `x`; the last dimension
/// stays whole.
static Signature normalized(Value x, unsigned operands) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Signature sig = Signature::elementwise(rank, operands);
  sig.whole = sig.out.back();
  return sig;
}

/// Returns the signature of (gradient, x, weight): linear in gradient and
/// weight.
static Signature inputGradient(Value x) {
  Signature sig = normalized(x, 2);
  sig.ins.push_back(sig.whole);
  sig.linear = {{0}, {2}};
  return sig;
}

/// Returns the signature of (gradient, x): a sum over rows.
static Signature weightGradient(Value x) {
  Signature sig = normalized(x, 2);
  sig.out = sig.whole;
  sig.linear = {{0}};
  sig.addsInChunks = true;
  return sig;
}

/// Builds the gradients of x and weight, given that of the result.
template <class GradInput, class GradWeight, class Norm>
static void buildCommonBackward(OpBuilder &builder, Norm norm, Value g,
                                ArrayRef<bool> wanted,
                                MutableArrayRef<Value> operandGrads) {
  if (wanted[0])
    operandGrads[0] =
        nn::create<GradInput>(builder, norm.getLoc(), g, norm.getInput(),
                              norm.getWeight(), norm.getEpsilonAttr());
  if (wanted[1])
    operandGrads[1] = nn::create<GradWeight>(
        builder, norm.getLoc(), g, norm.getInput(), norm.getEpsilonAttr());
}

//===----------------------------------------------------------------------===//
// layer_norm
//===----------------------------------------------------------------------===//

Signature LayerNormOp::getSignature(unsigned) {
  Signature sig = normalized(getInput(), 1);
  sig.ins.append(2, sig.whole);
  sig.linear = {{1, 2}};
  return sig;
}

Padding LayerNormOp::getPadding(unsigned, char, Paddings p) {
  return dist::sumOf({dist::productOf({p[0], p[1]}), p[2]});
}

Type LayerNormOp::getResultElementType(unsigned) {
  return getElementType().value_or(getElementTypeOrSelf(getInput().getType()));
}

void LayerNormOp::setResultElementType(Type type) { setElementType(type); }

void LayerNormOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool> wanted,
                                MutableArrayRef<Value> operandGrads) {
  Value g = resultGrads[0];
  buildCommonBackward<LayerNormGradInputOp, LayerNormGradWeightOp>(
      builder, *this, g, wanted, operandGrads);
  if (wanted[2]) {
    Signature sig = getSignature(0);
    operandGrads[2] = nn::create<EinsumOp>(
        builder, getLoc(), builder.getStringAttr(sig.out + "->" + sig.ins[2]),
        ValueRange(g), builder.getF64FloatAttr(1.0),
        TypeAttr::get(getElementTypeOrSelf(getBias().getType())));
  }
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

Signature RMSNormOp::getSignature(unsigned) {
  Signature sig = normalized(getInput(), 1);
  sig.ins.push_back(sig.whole);
  sig.linear = {{1}};
  return sig;
}

Padding RMSNormOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(p);
}

Type RMSNormOp::getResultElementType(unsigned) {
  return getElementType().value_or(getElementTypeOrSelf(getInput().getType()));
}

void RMSNormOp::setResultElementType(Type type) { setElementType(type); }

void RMSNormOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operandGrads) {
  buildCommonBackward<RMSNormGradInputOp, RMSNormGradWeightOp>(
      builder, *this, resultGrads[0], wanted, operandGrads);
}

//===----------------------------------------------------------------------===//
// Gradients of both, by the same rules
//===----------------------------------------------------------------------===//

static Padding inputGradientPadding(Paddings p) {
  return dist::productOf({p[0], p[2], dist::finiteOf(p[1])});
}

static Type elementTypeOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

Signature LayerNormGradInputOp::getSignature(unsigned) {
  return inputGradient(getInput());
}
Signature RMSNormGradInputOp::getSignature(unsigned) {
  return inputGradient(getInput());
}

Signature LayerNormGradWeightOp::getSignature(unsigned) {
  return weightGradient(getInput());
}
Signature RMSNormGradWeightOp::getSignature(unsigned) {
  return weightGradient(getInput());
}

Padding LayerNormGradInputOp::getPadding(unsigned, char, Paddings p) {
  return inputGradientPadding(p);
}
Padding RMSNormGradInputOp::getPadding(unsigned, char, Paddings p) {
  return inputGradientPadding(p);
}

Padding LayerNormGradWeightOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(p);
}
Padding RMSNormGradWeightOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(p);
}

Type LayerNormGradInputOp::getResultElementType(unsigned) {
  return elementTypeOf(getInput());
}
Type LayerNormGradWeightOp::getResultElementType(unsigned) {
  return elementTypeOf(getInput());
}
Type RMSNormGradInputOp::getResultElementType(unsigned) {
  return elementTypeOf(getInput());
}
Type RMSNormGradWeightOp::getResultElementType(unsigned) {
  return elementTypeOf(getInput());
}
