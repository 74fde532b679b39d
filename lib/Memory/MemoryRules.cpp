//===- MemoryRules.cpp - what the memory passes agree on ------------------===//

#include "lib/Memory/MemoryRules.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

SmallVector<func::FuncOp>
tessera::rt::programsOfStage(ArrayRef<SmallVector<func::FuncOp>> groups,
                             size_t stage) {
  return llvm::map_to_vector(
      groups, [&](ArrayRef<func::FuncOp> group) { return group[stage]; });
}

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

bool tessera::rt::knowsPadding(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<GemmOp>(op))
    return true; // its verifier compares leading dimensions
  auto launch = dyn_cast<LaunchOp>(op);
  auto kernel = launch ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                             op, launch.getKernelAttr())
                       : func::FuncOp();
  unsigned number = operand.getOperandNumber();
  if (!kernel || number >= kernel.getNumArguments())
    return false;
  auto argument = dyn_cast<RankedTensorType>(kernel.getArgumentTypes()[number]);
  return argument &&
         rowStrideOf(argument) ==
             rowStrideOf(cast<RankedTensorType>(operand.get().getType()));
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
