//===- Liveness.cpp - program order and last uses -------------------------===//

#include "lib/Memory/Liveness.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera::rt;

Liveness::Liveness(func::FuncOp func) {
  func.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { positions[op] = ++last; });
}

int64_t Liveness::endOf(Operation *op) const {
  if (op->getNumRegions() == 0 || op->getRegion(0).empty())
    return positions.at(op);
  return positions.at(op->getRegion(0).front().getTerminator());
}

int64_t Liveness::begin(Value value) const {
  if (Operation *op = value.getDefiningOp())
    return endOf(op);
  auto it = positions.find(value.getParentBlock()->getParentOp());
  return it == positions.end() ? 0 : it->second;
}

int64_t Liveness::lastUse(Value value) const {
  if (resultEntry(value, RTDialect::kKeepAttr))
    return end();
  int64_t position = begin(value);
  Block *home = value.getParentBlock();
  for (Operation *user : value.getUsers()) {
    int64_t use = positions.at(user);
    for (; user->getBlock() != home; user = user->getBlock()->getParentOp())
      use = endOf(user->getBlock()->getParentOp());
    position = std::max(position, use);
  }
  return position;
}
