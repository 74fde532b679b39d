//===- RTBuffers.cpp - what rt ops say of their buffers -------------------===//

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

#include "tessera/Dialect/RT/RTInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Facts of the ops
//===----------------------------------------------------------------------===//

int64_t AttentionOp::getOperandStride(unsigned operand) {
  switch (operand) {
  case 0:
    return getRowQ();
  case 1:
    return getRowK();
  case 2:
    return getRowV();
  default:
    return 0;
  }
}

int64_t AttentionGradOp::getOperandStride(unsigned operand) {
  switch (operand) {
  case 1:
    return getRowQ();
  case 2:
    return getRowK();
  case 3:
    return getRowV();
  default:
    return 0;
  }
}

int64_t AttentionGradOp::getResultStride(unsigned result) {
  constexpr unsigned biasTable = 3;
  if (result == biasTable)
    return 0;
  const uint64_t strides[] = {getRowDq(), getRowDk(), getRowDv()};
  auto type = cast<RankedTensorType>(getResult(result).getType());
  int64_t row =
      type.getNumElements() / (type.getDimSize(0) * type.getDimSize(1));
  int64_t stride = strides[result];
  return stride == row ? 0 : stride;
}

OpOperand *ScatterAddOp::getTiedOperand(unsigned result) {
  return &getTableMutable();
}

OpOperand *AllReduceOp::getTiedOperand(unsigned result) {
  return &getInputMutable();
}

dist::Collective AllReduceOp::getCollective() {
  return dist::Collective::AllReduce;
}
Value AllReduceOp::getWhole() { return getResult(); }

dist::Collective AllGatherOp::getCollective() {
  return dist::Collective::AllGather;
}
Value AllGatherOp::getWhole() { return getResult(); }

dist::Collective ReduceScatterOp::getCollective() {
  return dist::Collective::ReduceScatter;
}
Value ReduceScatterOp::getWhole() { return getInput(); }

OpOperand *WaitOp::getTiedOperand(unsigned result) {
  return &getPendingMutable();
}

dist::Collective AllToAllOp::getCollective() {
  return dist::Collective::AllToAll;
}
Value AllToAllOp::getWhole() { return getInput(); }

OpOperand *BroadcastOp::getTiedOperand(unsigned result) {
  return getInput() ? &getInputMutable()[0] : nullptr;
}

dist::Collective BroadcastOp::getCollective() {
  return dist::Collective::Broadcast;
}
Value BroadcastOp::getWhole() { return getResult(); }

//===----------------------------------------------------------------------===//
// Facts of the plan
//===----------------------------------------------------------------------===//

int64_t tessera::rt::elementBytesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

int64_t tessera::rt::bytesOf(Value tensor) {
  return storedElementsOf(cast<RankedTensorType>(tensor.getType())) *
         elementBytesOf(tensor);
}

std::optional<int64_t> tessera::rt::offsetOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  unsigned index = 0;
  if (op) {
    index = cast<OpResult>(tensor).getResultNumber();
  } else {
    auto argument = cast<BlockArgument>(tensor);
    op = argument.getOwner()->getParentOp();
    index = argument.getArgNumber();
    if (auto func = dyn_cast<FunctionOpInterface>(op)) {
      auto offset =
          func.getArgAttrOfType<IntegerAttr>(index, RTDialect::kOffsetAttr);
      return offset ? std::optional(offset.getInt()) : std::nullopt;
    }
    --index; // The iteration number comes first.
  }
  auto offsets = op->getAttrOfType<DenseI64ArrayAttr>(RTDialect::kOffsetsAttr);
  if (!offsets || index >= static_cast<size_t>(offsets.size()))
    return std::nullopt;
  return offsets[index];
}

Operation *tessera::rt::arenaOwner(Operation *step) {
  return step->hasAttr(RTDialect::kStageAttr) ? step : step->getParentOp();
}

DictionaryAttr tessera::rt::resultEntry(Value result, StringRef attribute) {
  Operation *op = result.getDefiningOp();
  auto entries = op ? op->getAttrOfType<ArrayAttr>(attribute) : ArrayAttr();
  unsigned index = op ? cast<OpResult>(result).getResultNumber() : 0;
  if (!entries || index >= entries.size())
    return {};
  auto entry = dyn_cast<DictionaryAttr>(entries[index]);
  return entry && !entry.empty() ? entry : DictionaryAttr();
}
