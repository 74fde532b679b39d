//===- RTBuffers.cpp - what rt ops say of their buffers -------------------===//

#include "lib/Dialect/RT/DescribeCall.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

#include "tessera/Dialect/RT/RTInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Facts of the ops
//===----------------------------------------------------------------------===//

OpOperand *ScatterAddOp::getTiedOperand(unsigned result) {
  return &getTableMutable();
}

void LaunchOp::describe(program::Call &call) {
  describeCall(*this, call);
  call.kernel = getKernel().str();
}

/// Each row of the source is read, and one of the table read and written.
void ScatterAddOp::describe(program::Call &call) {
  describeCall(*this, call);
  call.bytes = 3 * bytesOf(getSource());
}

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

Operation *tessera::rt::arenaOwner(Operation *program) {
  bool ownsIt =
      program->hasAttr(RTDialect::kStageAttr) || nn::isBeside(program);
  return ownsIt ? program : program->getParentOp();
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
