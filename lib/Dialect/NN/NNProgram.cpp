//===- NNProgram.cpp - the nn program of a module -------------------------===//

#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NN.h"
#include <map>

using namespace mlir;
using namespace tessera;

/// Emits an error unless arguments or results are tensors of the mesh.
static LogicalResult checkTypes(func::FuncOp func, TypeRange types,
                                StringRef what) {
  for (auto [k, type] : llvm::enumerate(types)) {
    std::string why = isa<RankedTensorType>(type)
                          ? dist::refusalOfTensor(type)
                          : "it must be a ranked tensor";
    if (!why.empty())
      return func.emitError() << what << " #" << k << " of @" << func.getName()
                              << " has type " << type << "; " << why;
    if (failed(dist::verifyAxes(func, type)))
      return failure();
  }
  return success();
}

/// Emits an error unless an op is of a dialect that is known, calls nothing,
/// and has tensors that passes can compute with.
static LogicalResult checkOp(Operation *op) {
  if (!op->isRegistered() ||
      isa<func::CallOp, func::CallIndirectOp, func::FuncOp>(op))
    return op->emitError() << "'" << op->getName()
                           << "' is no op of a program; a program is a list of "
                              "ops of known dialects without calls";
  return dist::verifyTensors(op);
}

LogicalResult tessera::nn::checkProgram(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError()
           << "@" << func.getName() << " must have a body of one block";
  if (failed(checkTypes(func, func.getArgumentTypes(), "argument")) ||
      failed(checkTypes(func, func.getResultTypes(), "result")))
    return failure();
  WalkResult walk = func.getBody().walk([](Operation *op) {
    return failed(checkOp(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

static FailureOr<func::FuncOp> findFunction(ModuleOp module, StringRef name) {
  auto func = module.lookupSymbol<func::FuncOp>(name);
  if (!func)
    return module.emitError() << "has no function @" << name;
  if (failed(nn::checkProgram(func)))
    return failure();
  return func;
}

/// Emits an error unless all values are tensors, as before rt-localize.
static LogicalResult checkTyped(func::FuncOp func) {
  WalkResult walk = func.getBody().walk([](Operation *op) {
    for (Type type : op->getResultTypes())
      if (!isa<RankedTensorType>(type)) {
        op->emitOpError() << "makes a value of type " << type
                          << "; before rt-localize all are tensors";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

FailureOr<func::FuncOp> tessera::nn::findProgram(ModuleOp module,
                                                 StringRef name) {
  FailureOr<func::FuncOp> found = findFunction(module, name);
  if (failed(found) || failed(checkTyped(*found)))
    return failure();
  return found;
}

/// Emits an error if a value has an encoding.
static LogicalResult checkSerial(Operation *op, TypeRange types) {
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.getEncoding())
      return op->emitOpError()
             << "has a value of type " << type
             << "; this pass needs a program that is not distributed yet";
  if (!isa<dist::DistributableOpInterface, func::ReturnOp, func::FuncOp>(op))
    return op->emitOpError()
           << "cannot be distributed; only nn ops of a serial program can";
  return success();
}

FailureOr<func::FuncOp> tessera::nn::findSerialLoss(ModuleOp module) {
  FailureOr<func::FuncOp> loss = findProgram(module, "loss");
  if (failed(loss) || failed(checkSerial(*loss, loss->getArgumentTypes())))
    return failure();
  WalkResult walk = loss->getBody().walk([](Operation *op) {
    return failed(checkSerial(op, op->getResultTypes()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return loss;
}

/// rt.stage of rt::RTDialect, which includes this dialect.
static constexpr StringLiteral kStageAttr = "rt.stage";

/// Returns if a program is of generation or an evaluation; a training step is
/// neither.
static std::pair<Attribute, bool> kindOf(func::FuncOp program) {
  return {program->getAttr(nn::kGenerationAttr), nn::isEvaluation(program)};
}

/// Returns the functions of the stages of a kind of program, in their order.
static SmallVector<func::FuncOp> findStages(ModuleOp module, StringRef ofRows,
                                            bool ofEvaluation) {
  auto name = ofRows.empty() ? StringAttr()
                             : StringAttr::get(module.getContext(), ofRows);
  std::map<int64_t, func::FuncOp> stages;
  for (auto func : module.getOps<func::FuncOp>())
    if (auto stage = func->getAttrOfType<IntegerAttr>(kStageAttr);
        stage && kindOf(func) == std::make_pair(Attribute(name), ofEvaluation))
      stages[stage.getInt()] = func;
  return llvm::map_to_vector(stages, [](auto &entry) { return entry.second; });
}

FailureOr<SmallVector<func::FuncOp>> tessera::nn::findSteps(ModuleOp module) {
  SmallVector<func::FuncOp> steps = findStages(module, "", false);
  if (steps.empty()) {
    FailureOr<func::FuncOp> step = findFunction(module, "step");
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
  SmallVector<func::FuncOp> stages = findStages(module, "", true);
  auto whole = module.lookupSymbol<func::FuncOp>(kEvaluationName);
  if (stages.empty() && whole && isEvaluation(whole))
    stages.push_back(whole);
  return stages;
}

SmallVector<func::FuncOp> tessera::nn::findGenerations(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (StringRef name : {kDecodeName, kMixedName, kScoreName, kEncodeName}) {
    llvm::append_range(programs, findStages(module, name, false));
    if (auto whole = module.lookupSymbol<func::FuncOp>(name);
        whole && isGeneration(whole))
      programs.push_back(whole);
  }
  return programs;
}

bool tessera::nn::isBeside(Operation *program) {
  auto generation = program->getAttrOfType<StringAttr>(kGenerationAttr);
  return isEvaluation(program) || program->hasAttr(kBesideAttr) ||
         (generation && (generation.getValue() == kMixedName ||
                         generation.getValue() == kScoreName));
}

SmallVector<SmallVector<func::FuncOp>>
tessera::nn::groupPrograms(ArrayRef<func::FuncOp> programs) {
  SmallVector<SmallVector<func::FuncOp>> groups;
  for (func::FuncOp program : programs) {
    if (groups.empty() || kindOf(groups.back().front()) != kindOf(program))
      groups.emplace_back();
    groups.back().push_back(program);
  }
  return groups;
}

/// Appends checked `others`.
static LogicalResult append(SmallVector<func::FuncOp> &programs,
                            ArrayRef<func::FuncOp> others) {
  for (func::FuncOp other : others) {
    if (failed(nn::checkProgram(other)))
      return failure();
    programs.push_back(other);
  }
  return success();
}

/// Each rank runs one stage of every program.
static LogicalResult checkStages(ArrayRef<func::FuncOp> programs) {
  SmallVector<SmallVector<func::FuncOp>> groups = nn::groupPrograms(programs);
  for (ArrayRef<func::FuncOp> group : groups)
    if (size_t stages = groups.front().size(); group.size() != stages)
      return group.front()->emitError()
             << "is of a program with " << group.size()
             << " stages, but that of '" << groups.front().front().getName()
             << "' has " << stages;
  return success();
}

/// `first`, then what stands beside it.
static FailureOr<SmallVector<func::FuncOp>>
withOthers(ModuleOp module, FailureOr<SmallVector<func::FuncOp>> first) {
  if (failed(first) || failed(append(*first, nn::findEvaluations(module))) ||
      failed(append(*first, nn::findGenerations(module))) ||
      failed(checkStages(*first)))
    return failure();
  return first;
}

/// Returns whether there is no training step.
static bool onlyGenerates(ModuleOp module) {
  SmallVector<func::FuncOp> programs = nn::findGenerations(module);
  return !programs.empty() && !nn::isBeside(programs.front());
}

FailureOr<SmallVector<func::FuncOp>>
tessera::nn::findPrograms(ModuleOp module) {
  if (onlyGenerates(module))
    return withOthers(module, SmallVector<func::FuncOp>());
  return withOthers(module, findSteps(module));
}

static FailureOr<SmallVector<func::FuncOp>> findAll(ModuleOp module,
                                                    StringRef name) {
  if (onlyGenerates(module))
    return withOthers(module, SmallVector<func::FuncOp>());
  FailureOr<func::FuncOp> found = findFunction(module, name);
  if (failed(found))
    return failure();
  return withOthers(module, SmallVector<func::FuncOp>{*found});
}

FailureOr<SmallVector<func::FuncOp>>
tessera::nn::findWithOthers(ModuleOp module, StringRef name) {
  FailureOr<SmallVector<func::FuncOp>> all = findAll(module, name);
  if (failed(all))
    return failure();
  for (func::FuncOp program : *all)
    if (failed(checkTyped(program)))
      return failure();
  return all;
}
