//===- MemoryRules.cpp - what the memory passes agree on ------------------===//

#include "tessera/Transforms/MemoryRules.h"
#include "tessera/Conversion/KernelToLLVM/BufferSharing.h"
#include "tessera/Dialect/NN/NN.h"
#include <map>

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static LogicalResult checkValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || (type.hasStaticShape() && type.getElementType().isIntOrFloat()))
    return success();
  return emitError(value.getLoc())
         << "has type " << type
         << "; the memory plan needs static shapes of numbers";
}

/// Only rt ops have rules for their buffers.
static LogicalResult checkOp(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  bool onTensors = llvm::any_of(op->getOperandTypes(), isTensor) ||
                   llvm::any_of(op->getResultTypes(), isTensor);
  if (onTensors && !isa<RuntimeCallOpInterface, ViewOp, JoinOp, LoopOp, YieldOp,
                        func::ReturnOp>(op))
    return op->emitError() << "is not an op of the lowered program";
  for (Value result : op->getResults())
    if (failed(checkValue(result)))
      return failure();
  return success();
}

FailureOr<func::FuncOp> tessera::rt::findStep(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (!step || !step.getBody().hasOneBlock())
    return module.emitError() << "has no function @step of one block";
  WalkResult walk = step.walk([](Block *block) {
    for (BlockArgument argument : block->getArguments())
      if (failed(checkValue(argument)))
        return WalkResult::interrupt();
    for (Operation &op : *block)
      if (failed(checkOp(&op)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return step;
}

BlockArgument tessera::rt::updatedArgument(func::FuncOp func, unsigned result) {
  auto role =
      func.getResultAttrOfType<StringAttr>(result, nn::NNDialect::kRoleAttr);
  auto name =
      func.getResultAttrOfType<StringAttr>(result, nn::NNDialect::kParamAttr);
  if (!role || !name)
    return {};
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    bool isParameter = role == "parameter";
    StringRef key =
        isParameter ? StringRef(nn::NNDialect::kParamAttr) : "nn.of";
    bool sameRole =
        isParameter || func.getArgAttr(index, nn::NNDialect::kRoleAttr) == role;
    if (sameRole && func.getArgAttr(index, key) == name)
      return argument;
  }
  return {};
}

ShareRule tessera::rt::kernelShareRule() {
  // Analyzing a kernel costs more than looking up the answer; kernels are
  // shared by layers.
  using Question = std::tuple<Operation *, unsigned, unsigned>;
  auto known = std::make_shared<std::map<Question, bool>>();
  return [known](func::FuncOp kernel, unsigned argument, unsigned result) {
    if (kernel.isDeclaration())
      return false;
    auto [it, isNew] = known->try_emplace({kernel, argument, result}, false);
    if (isNew)
      it->second = mayShareBuffer(kernel, argument, result);
    return it->second;
  };
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
