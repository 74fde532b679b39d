//===- Marks.cpp - phase and tag of an op ---------------------------------===//

#include "tessera/Dialect/NN/Marks.h"

using namespace mlir;
using namespace tessera;

nn::Phase nn::phaseOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto phase = op->getAttrOfType<PhaseAttr>(NNDialect::kPhaseAttr))
      return phase.getValue();
  return Phase::Forward;
}

void nn::setPhase(Operation *op, Phase phase) {
  op->setAttr(NNDialect::kPhaseAttr, PhaseAttr::get(op->getContext(), phase));
}

void nn::inheritPhase(Operation *to, Operation *from) {
  if (Attribute phase = from->getAttr(NNDialect::kPhaseAttr))
    to->setAttr(NNDialect::kPhaseAttr, phase);
}

bool nn::hasTag(Operation *op, Tag tag) {
  auto own = op->getAttrOfType<TagAttr>(NNDialect::kTagAttr);
  return own && own.getValue() == tag;
}

void nn::setTag(Operation *op, Tag tag) {
  op->setAttr(NNDialect::kTagAttr, TagAttr::get(op->getContext(), tag));
}

Operation *nn::findHiddenStates(Block &model) {
  Operation *last = nullptr;
  for (Operation &op : model) {
    if (hasTag(&op, Tag::Memory))
      return &op;
    if (hasTag(&op, Tag::Stream))
      last = &op;
  }
  return last;
}

bool nn::isGradientSum(Operation *op) {
  auto sum = dyn_cast_or_null<AddOp>(op);
  if (!sum || sum.getCoefs() || phaseOf(op) != Phase::Backward)
    return false;
  dist::Signature sig = dist::Signature::parse(sum.getSpec());
  return llvm::all_of(sig.ins,
                      [&](const std::string &in) { return in == sig.out; });
}
