//===- NNLoss.cpp - the parts of cross-entropy ----------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

static Signature dropLast(Value x) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Signature sig = Signature::elementwise(rank, 1);
  sig.out.pop_back();
  return sig;
}

static bool isLast(StringRef letters, char factor) {
  return letters.back() == factor;
}

Signature MaxOp::getSignature(unsigned) {
  Signature sig = dropLast(getInput());
  sig.reduces = dist::State::M;
  return sig;
}

Padding MaxOp::getPadding(unsigned, char, Paddings p) { return p[0]; }

Signature PickOp::getSignature(unsigned) {
  Signature sig = dropLast(getLogits());
  sig.ins.push_back(sig.out);
  sig.linear = {{0}};
  sig.moves = true; // one rank has the element, the others 0
  return sig;
}

/// A label names no padding of the vocabulary: none is read.
Padding PickOp::getPadding(unsigned, char factor, Paddings p) {
  return isLast(getSignature(0).ins[0], factor) ? Padding::Zero
                                                : dist::productOf(p[0]);
}

void PickOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> operandGrads) {
  if (wanted[0])
    operandGrads[0] = nn::create<PickGradOp>(builder, getLoc(), resultGrads[0],
                                             getLabels(), getLogits());
}

Signature PickGradOp::getSignature(unsigned) {
  Signature sig = dropLast(getLike());
  std::string rows = sig.out, whole = sig.ins[0];
  sig.ins = {rows, rows, whole};
  sig.out = whole;
  sig.linear = {{0}};
  sig.shapeOnly = {2};
  sig.moves = true;
  return sig;
}

Padding PickGradOp::getPadding(unsigned, char factor, Paddings p) {
  return isLast(getSignature(0).out, factor) ? Padding::Zero
                                             : dist::productOf(p[0]);
}

Signature LabelRankOp::getSignature(unsigned) {
  Signature sig = dropLast(getLogits());
  sig.ins.append({sig.out, sig.out});
  return sig;
}

/// Padding does not count: nothing is before the least number, except by its
/// index, and padding has larger ones than any label.
Padding LabelRankOp::getPadding(unsigned, char factor, Paddings p) {
  return isLast(getSignature(0).ins[0], factor) && p[0] == Padding::NegInfinity
             ? Padding::Zero
             : Padding::Finite;
}

Signature CountedOp::getSignature(unsigned) {
  int64_t rank = cast<RankedTensorType>(getLabels().getType()).getRank();
  return Signature::elementwise(rank, 1);
}

/// A label in padding may be anything: it may count.
Padding CountedOp::getPadding(unsigned, char, Paddings p) {
  return Padding::Finite;
}

Type CountedOp::getResultElementType(unsigned) { return getElementType(); }
