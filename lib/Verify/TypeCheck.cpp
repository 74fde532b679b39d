//===- TypeCheck.cpp - the typed programs, compared without a run ---------===//

#include "lib/Verify/TypeCheck.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Erasure.h"
#include "tessera/Import/Import.h"
#include "tessera/Inference/Correspondence.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Pipelines/Pipeline.h"

using namespace mlir;
using namespace tessera;

static LogicalResult makeSerialPrograms(ModuleOp module,
                                        const PlanOptions &plan) {
  PassManager manager(module.getContext(), module.getOperationName());
  if (trains(plan.programs))
    buildSerialStepPipeline(manager, plan);
  else
    buildSerialGenerationPipeline(manager, plan);
  return manager.run(module);
}

/// The model, in the element types that the plan gives it.
static LogicalResult makePrecise(ModuleOp module, const PlanOptions &plan) {
  PassManager manager(module.getContext(), module.getOperationName());
  buildPrecisionPipeline(manager, plan);
  return manager.run(module);
}

static LogicalResult makeTyped(ModuleOp module, const PlanOptions &plan,
                               bool isParallel) {
  return isParallel ? distributeToStep(module, plan)
                    : makeSerialPrograms(module, plan);
}

/// Returns the programs of a module by name.
static SmallVector<StringRef> programsOf(ModuleOp module) {
  SmallVector<StringRef> names;
  for (func::FuncOp program : nn::findGenerations(module))
    names.push_back(program.getName());
  if (!names.empty())
    return names;
  names.push_back("step");
  if (!nn::findEvaluations(module).empty())
    names.push_back(nn::kEvaluationName);
  return names;
}

/// Compares serial programs for inference with the model.
static LogicalResult checkInference(const PlannedModel &options,
                                    ModuleOp serial, TypeCheck &check) {
  if (nn::findGenerations(serial).empty())
    return success();
  FailureOr<OwningOpRef<ModuleOp>> whole =
      importModel(serial.getContext(), options.model,
                  importOptions(options, Choices::Silent));
  if (failed(whole) || failed(makePrecise(**whole, planOf(options, **whole))))
    return failure();
  FailureOr<func::FuncOp> loss = nn::findProgram(**whole, "loss");
  if (failed(loss))
    return failure();
  Operation *states = nn::findHiddenStates(loss->getBody().front());
  check.isPair = states && nn::hasTag(states, nn::Tag::Memory);
  bool isUnrolled = encodes(options.plan.programs) || !check.isPair;
  for (func::FuncOp program : nn::findGenerations(serial))
    if (isUnrolled && check.unrolled.empty())
      check.unrolled = encodes(options.plan.programs)
                           ? compareEncoded(program, *loss)
                           : compareUnrolled(program, *loss);
  return success();
}

FailureOr<TypeCheck> tessera::checkTypes(MLIRContext &context,
                                         const PlannedModel &options) {
  OwningOpRef<ModuleOp> programs[2];
  // A plan that is refused is refused for the parallel program.
  for (bool isParallel : {true, false}) {
    FailureOr<OwningOpRef<ModuleOp>> module = importModel(
        &context, options.model, importOptions(options, Choices::Silent));
    if (failed(module) ||
        failed(makeTyped(**module, planOf(options, **module), isParallel)))
      return failure();
    programs[isParallel] = std::move(*module);
  }
  TypeCheck check;
  programs[1]->walk([&](Operation *op) {
    check.ops +=
        isa<dist::DistributableOpInterface>(op) && !isa<dist::MaskOp>(op);
    check.conversions += isa<dist::ConvertOp>(op);
  });
  for (StringRef name : programsOf(*programs[0]))
    if (check.difference.empty())
      check.difference = compareErased(*programs[1], *programs[0], name);
  if (failed(checkInference(options, *programs[0], check)))
    return failure();
  return check;
}
