//===- NNOptimizer.cpp - AdamW --------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Signature;

/// The update is linear in no operand, so no partial sum reaches it.
Signature AdamWOp::getSignature(unsigned) {
  auto type = cast<RankedTensorType>(getParam().getType());
  Signature sig = Signature::elementwise(type.getRank(), 3);
  sig.ins.append({"", "", ""});
  return sig;
}

Type AdamWOp::getResultElementType(unsigned) {
  return getElementTypeOrSelf(getParam().getType());
}
