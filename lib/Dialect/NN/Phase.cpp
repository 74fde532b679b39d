//===- Phase.cpp - which part of the training step an op belongs to -------===//

#include "tessera/Dialect/NN/Phase.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

bool nn::isGradientSum(Operation *op) {
  auto sum = dyn_cast_or_null<AddOp>(op);
  if (!sum || sum.getCoefs() || phaseOf(op) != kBackwardPhase)
    return false;
  dist::Signature sig = dist::Signature::parse(sum.getSpec());
  return llvm::all_of(sig.ins,
                      [&](const std::string &in) { return in == sig.out; });
}

void nn::inheritPhase(Operation *to, Operation *from) {
  if (Attribute phase = from->getAttr(NNDialect::kPhaseAttr))
    to->setAttr(NNDialect::kPhaseAttr, phase);
}

StringRef nn::phaseOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto phase = op->getAttrOfType<StringAttr>(NNDialect::kPhaseAttr))
      return phase;
  return "";
}
