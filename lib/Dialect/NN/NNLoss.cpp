//===- NNLoss.cpp - the parts of cross-entropy ----------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Signature;

static Signature dropLast(Value x) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Signature sig = Signature::elementwise(rank, 1);
  sig.out.pop_back();
  return sig;
}

Signature MaxOp::getSignature(unsigned) {
  Signature sig = dropLast(getInput());
  sig.reduces = dist::State::M;
  return sig;
}

Signature PickOp::getSignature(unsigned) {
  Signature sig = dropLast(getLogits());
  sig.ins.push_back(sig.out);
  sig.linear = {{0}};
  sig.moves = true; // one rank has the element, the others 0
  return sig;
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

Signature CountedOp::getSignature(unsigned) {
  int64_t rank = cast<RankedTensorType>(getLabels().getType()).getRank();
  return Signature::elementwise(rank, 1);
}

Type CountedOp::getResultElementType(unsigned) { return getElementType(); }
