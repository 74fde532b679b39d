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

/// The functions of stages, in their order.
static SmallVector<func::FuncOp> findStages(ModuleOp module,
                                            bool ofEvaluation) {
  std::map<int64_t, func::FuncOp> stages;
  for (auto func : module.getOps<func::FuncOp>())
    if (auto stage = func->getAttrOfType<IntegerAttr>(kStageAttr);
        stage && nn::isEvaluation(func) == ofEvaluation)
      stages[stage.getInt()] = func;
  return llvm::map_to_vector(stages, [](auto &entry) { return entry.second; });
}

FailureOr<SmallVector<func::FuncOp>> tessera::nn::findSteps(ModuleOp module) {
  SmallVector<func::FuncOp> steps = findStages(module, false);
  if (steps.empty()) {
    FailureOr<func::FuncOp> step = findProgram(module, "step");
    if (failed(step))
      return failure();
    return SmallVector<func::FuncOp>{*step};
  }
  for (func::FuncOp func : steps)
    if (failed(checkProgram(func)))
      return failure();
  return steps;
}

SmallVector<func::FuncOp> tessera::nn::findEvaluations(ModuleOp module) {
  SmallVector<func::FuncOp> stages = findStages(module, true);
  auto whole = module.lookupSymbol<func::FuncOp>(kEvaluationName);
  if (stages.empty() && whole && isEvaluation(whole))
    stages.push_back(whole);
  return stages;
}

SmallVector<func::FuncOp> tessera::nn::findGenerations(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (StringRef name : {StringRef(kDecodeName), StringRef(kMixedName)})
    if (auto program = module.lookupSymbol<func::FuncOp>(name);
        program && isGeneration(program))
      programs.push_back(program);
  return programs;
}

bool tessera::nn::isBeside(Operation *program) {
  auto generation = program->getAttrOfType<StringAttr>(kGenerationAttr);
  return isEvaluation(program) ||
         (generation && generation.getValue() == kMixedName);
}

/// The programs of a module for generation; empty where it is none.
static FailureOr<SmallVector<func::FuncOp>> checkGenerations(ModuleOp module) {
  SmallVector<func::FuncOp> programs = nn::findGenerations(module);
  for (func::FuncOp program : programs)
    if (failed(nn::checkProgram(program)))
      return failure();
  return programs;
}

FailureOr<SmallVector<func::FuncOp>>
tessera::nn::findPrograms(ModuleOp module) {
  FailureOr<SmallVector<func::FuncOp>> generations = checkGenerations(module);
  if (failed(generations) || !generations->empty())
    return generations;
  FailureOr<SmallVector<func::FuncOp>> programs = findSteps(module);
  if (failed(programs))
    return failure();
  for (func::FuncOp evaluation : findEvaluations(module)) {
    if (failed(checkProgram(evaluation)))
      return failure();
    programs->push_back(evaluation);
  }
  return programs;
}

FailureOr<SmallVector<func::FuncOp>>
tessera::nn::findWithEvaluation(ModuleOp module, StringRef name) {
  FailureOr<SmallVector<func::FuncOp>> generations = checkGenerations(module);
  if (failed(generations) || !generations->empty())
    return generations;
  FailureOr<func::FuncOp> found = findProgram(module, name);
  if (failed(found))
    return failure();
  SmallVector<func::FuncOp> programs = {*found};
  llvm::append_range(programs, findEvaluations(module));
  return programs;
}
