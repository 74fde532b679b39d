//===- Padding.cpp - the padding of uneven shards is zero -----------------===//

#include "lib/Lower/Kernels/Padding.h"

using namespace mlir;
using namespace tessera;

static bool hasNoEffect(OpOperand &use) {
  auto reader = dyn_cast<KernelOpInterface>(use.getOwner());
  return reader && reader.ignoresPadding(use.getOperandNumber());
}

static bool masksPadding(KernelOpInterface op, char factor) {
  switch (op.getPaddingEffect(factor)) {
  case PaddingEffect::KeepsZero:
    return false;
  case PaddingEffect::Repeats:
    return !llvm::all_of(op->getUses(), hasNoEffect);
  case PaddingEffect::Changes:
    return true;
  }
  llvm_unreachable("all effects are handled");
}

std::optional<FactorSpan> tessera::maskedSpan(KernelOpInterface op,
                                              const KernelSpace &space) {
  if (space.factors.empty())
    return std::nullopt;
  char last = space.factors.back();
  std::optional<FactorSpan> span = spanOf(op, last);
  if (!span)
    return std::nullopt;
  dist::MeshAttr mesh = dist::meshOf(op);
  bool isPadded = !mesh || span->isPadded(mesh);
  return isPadded && masksPadding(op, last) ? span : std::nullopt;
}
