//===- RTProgram.cpp - the lowered program of a module --------------------===//

#include "tessera/Dialect/RT/RTProgram.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Options/MeshAxis.h"

using namespace mlir;
using namespace tessera::rt;

StringRef tessera::rt::stageAxisOf(func::FuncOp step) {
  auto axis = step->getAttrOfType<StringAttr>(kStageAxisAttr);
  return axis ? axis.getValue() : StringRef(tessera::kPipelineAxis);
}

void tessera::rt::setArgumentAttrs(func::FuncOp func, StringRef name,
                                   ArrayRef<Attribute> values) {
  SmallVector<DictionaryAttr> all;
  for (auto [index, value] : llvm::enumerate(values)) {
    NamedAttrList attributes(func.getArgAttrDict(index));
    attributes.set(name, value);
    all.push_back(attributes.getDictionary(func.getContext()));
  }
  func.setAllArgAttrs(all);
}

bool tessera::rt::crossesPrograms(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  auto step = op->getParentOfType<func::FuncOp>();
  if (!collective || !step->hasAttr(RTDialect::kStageAttr))
    return false;
  StringRef axis = stageAxisOf(step);
  return llvm::any_of(collective.getAxes().getAsRange<StringAttr>(),
                      [&](StringAttr own) { return own.getValue() == axis; });
}

static LogicalResult checkValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || (type.hasStaticShape() && type.getElementType().isIntOrFloat()))
    return success();
  return emitError(value.getLoc())
         << "has type " << type
         << "; the memory plan needs static shapes of numbers";
}

/// Checks the dialect of an op: only rt ops have rules for their buffers.
static LogicalResult checkOp(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  bool onTensors = llvm::any_of(op->getOperandTypes(), isTensor) ||
                   llvm::any_of(op->getResultTypes(), isTensor);
  if (onTensors && !isa<RuntimeCallOpInterface, ViewOp, ConcatOp, LoopOp,
                        YieldOp, func::ReturnOp>(op))
    return op->emitError() << "is not an op of the lowered program";
  for (Value result : op->getResults())
    if (failed(checkValue(result)))
      return failure();
  return success();
}

static LogicalResult checkProgram(func::FuncOp program) {
  WalkResult walk = program.walk([](Block *block) {
    for (BlockArgument argument : block->getArguments())
      if (failed(checkValue(argument)))
        return WalkResult::interrupt();
    for (Operation &op : *block)
      if (failed(checkOp(&op)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

FailureOr<SmallVector<func::FuncOp>>
tessera::rt::findPrograms(ModuleOp module) {
  FailureOr<SmallVector<func::FuncOp>> programs = nn::findPrograms(module);
  if (failed(programs) || failed(failableParallelForEach(
                              module.getContext(), *programs, checkProgram)))
    return failure();
  return programs;
}

LogicalResult LoopOp::verify() {
  Block &body = getBody().front();
  TypeRange carried = getInits().getTypes();
  if (body.getNumArguments() == 0 ||
      !body.getArgument(0).getType().isInteger(64))
    return emitOpError() << "has no iteration number (i64) as first argument";
  SmallVector<Type> arguments(llvm::drop_begin(body.getArgumentTypes()));
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    if (types == carried)
      return success();
    return emitOpError() << "carries (" << carried << ") but " << what << " ("
                         << types << ")";
  };
  if (failed(check(arguments, "its body has")) ||
      failed(check(body.getTerminator()->getOperandTypes(), "yields")))
    return failure();
  return check(getResultTypes(), "returns");
}
