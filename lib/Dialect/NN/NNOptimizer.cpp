//===- NNOptimizer.cpp - AdamW, and what a step leaves --------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

/// The update is linear in no operand, so no partial sum reaches it.
Signature AdamWOp::getSignature(unsigned) {
  auto type = cast<RankedTensorType>(getParam().getType());
  Signature sig = Signature::elementwise(type.getRank(), 3);
  sig.ins.append({"", "", ""});
  return sig;
}

Padding AdamWOp::getPadding(unsigned, char, Paddings p) {
  Padding root = dist::throughOf("FXX", p[2]); // 1 / (sqrt(v) + epsilon)
  return dist::sumOf({dist::productOf(p[0]), dist::productOf({p[1], root})});
}

Type AdamWOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getParam().getType());
}

/// Linear in both values, but a state is never partial: neither may be.
Signature CommitOp::getSignature(unsigned) {
  auto type = cast<RankedTensorType>(getOld().getType());
  Signature sig = Signature::elementwise(type.getRank(), 2);
  sig.ins.insert(sig.ins.begin(), "");
  return sig;
}

Padding CommitOp::getPadding(unsigned, char, Paddings p) {
  return dist::joinOf({p[1], p[2]});
}

Type CommitOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getOld().getType());
}
