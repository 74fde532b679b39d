//===- NNProgram.cpp - the nn program of a module -------------------------===//

#include "tessera/Dialect/NN/NNProgram.h"
#include <map>

using namespace mlir;
using namespace tessera;

LogicalResult tessera::nn::checkProgram(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError()
           << "@" << func.getName() << " must have a body of one block";
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [k, type] : llvm::enumerate(types))
      if (!isa<RankedTensorType>(type))
        return func.emitError()
               << what << " #" << k << " of @" << func.getName() << " has type "
               << type << "; it must be a ranked tensor";
    return success();
  };
  if (failed(check(func.getArgumentTypes(), "argument")))
    return failure();
  return check(func.getResultTypes(), "result");
}

FailureOr<func::FuncOp> tessera::nn::findProgram(ModuleOp module,
                                                 StringRef name) {
  auto func = module.lookupSymbol<func::FuncOp>(name);
  if (!func)
    return module.emitError() << "has no function @" << name;
  if (failed(checkProgram(func)))
    return failure();
  return func;
}

/// rt.stage of rt::RTDialect, which includes this dialect.
static constexpr StringLiteral kStageAttr = "rt.stage";

FailureOr<SmallVector<func::FuncOp>> tessera::nn::findSteps(ModuleOp module) {
  std::map<int64_t, func::FuncOp> stages;
  for (auto func : module.getOps<func::FuncOp>())
    if (auto stage = func->getAttrOfType<IntegerAttr>(kStageAttr))
      stages[stage.getInt()] = func;
  if (stages.empty()) {
    FailureOr<func::FuncOp> step = findProgram(module, "step");
    if (failed(step))
      return failure();
    return SmallVector<func::FuncOp>{*step};
  }
  SmallVector<func::FuncOp> steps;
  for (auto [stage, func] : stages) {
    if (failed(checkProgram(func)))
      return failure();
    steps.push_back(func);
  }
  return steps;
}
