//===- AdapterAnchor.cpp - where adapters run -----------------------------===//

#include "lib/Distribute/AdapterAnchor.h"
#include "tessera/Dialect/NN/Adapters.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

/// Returns the product of an adapter that reads the op's result, scaled or not;
/// null if none does.
static nn::EinsumOp productAfter(Operation *op) {
  for (Operation *user : op->getUsers())
    if (user->hasAttr(nn::kAdapterAttr) && isa<nn::EinsumOp>(user))
      return user->getNumOperands() == 1 ? productAfter(user)
                                         : cast<nn::EinsumOp>(user);
  return {};
}

std::optional<State> tessera::anchorOfAdapter(Operation *op, StringRef axis) {
  auto stateOn = [&](Value value) { return stateOf(value.getType(), axis); };
  auto isPartial = [&](Value v) { return stateOn(v).kind == State::P; };
  if (isa<nn::AddOp>(op))
    return llvm::all_of(op->getOperands(), isPartial)
               ? std::optional(State{State::P})
               : std::nullopt;
  if (isa<nn::DropoutOp>(op)) {
    nn::EinsumOp low = productAfter(op);
    return low ? anchorOfAdapter(low, axis) : std::nullopt;
  }
  if (isPartial(op->getOperand(0)))
    return State{State::P};
  if (op->getNumOperands() == 1) // a scaled value
    return std::nullopt;
  nn::EinsumOp high = productAfter(op);
  bool splitsColumns = high && !stateOn(op->getOperand(1)).isSharded() &&
                       stateOn(high->getOperand(1)).isSharded();
  return splitsColumns ? std::optional(State{State::R}) : std::nullopt;
}
