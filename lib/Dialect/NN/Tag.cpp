//===- Tag.cpp - what an op is to the strategies --------------------------===//

#include "tessera/Dialect/NN/Tag.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

bool nn::hasTag(Operation *op, StringRef name) {
  auto tag = op->getAttrOfType<StringAttr>(NNDialect::kTagAttr);
  return tag && tag.getValue() == name;
}
