//===- MemoryRules.cpp - what the memory passes agree on ------------------===//

#include "tessera/Transforms/MemoryRules.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

SmallVector<BlockArgument> tessera::rt::updatedArguments(func::FuncOp func) {
  using Key = std::pair<Attribute, Attribute>; // Role and name.
  llvm::DenseMap<Key, BlockArgument> arguments;
  auto parameter = StringAttr::get(func.getContext(), "parameter");
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (Attribute name = func.getArgAttr(index, nn::NNDialect::kParamAttr))
      arguments[{parameter, name}] = argument;
    else if (Attribute of = func.getArgAttr(index, "nn.of"))
      arguments[{func.getArgAttr(index, nn::NNDialect::kRoleAttr), of}] =
          argument;
  }
  SmallVector<BlockArgument> updated;
  for (unsigned index = 0; index < func.getNumResults(); ++index) {
    Attribute role = func.getResultAttr(index, nn::NNDialect::kRoleAttr);
    Attribute name = func.getResultAttr(index, nn::NNDialect::kParamAttr);
    updated.push_back(role && name ? arguments.lookup({role, name})
                                   : BlockArgument());
  }
  return updated;
}

bool tessera::rt::mayShare(func::FuncOp kernel, unsigned argument,
                           unsigned result) {
  auto pairs = kernel->getAttrOfType<ArrayAttr>(RTDialect::kMayShareAttr);
  if (!pairs)
    return false;
  return llvm::any_of(pairs, [&](Attribute attribute) {
    auto pair = dyn_cast<DenseI64ArrayAttr>(attribute);
    return pair && pair.size() == 2 && pair[0] == argument && pair[1] == result;
  });
}

void tessera::rt::reportConflict(const Conflict &conflict) {
  Operation *op = conflict.operand->getOwner();
  InFlightDiagnostic error =
      op->emitError() << "operand #" << conflict.operand->getOperandNumber()
                      << " " << conflict.why;
  if (conflict.remedy != Conflict::None)
    error << "; run rt-insert-copies first";
  error.attachNote(conflict.operand->get().getLoc()) << "the value is here";
}
