//===- Phase.cpp - which part of the training step an op belongs to -------===//

#include "tessera/Dialect/NN/Phase.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

StringRef nn::phaseOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto phase = op->getAttrOfType<StringAttr>(NNDialect::kPhaseAttr))
      return phase;
  return "";
}
