//===- Verify.cpp - is the distributed program the serial one? ------------===//

#include "tessera/Verify/Verify.h"
#include "lib/Verify/TypeCheck.h"
#include "lib/Verify/VerifyInference.h"
#include "lib/Verify/VerifyTraining.h"
#include "tessera/Artifact/DeviceReport.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Pipelines/FitMemory.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

std::string tessera::refuseVerification(const PlannedModel &model) {
  if (model.plan.optimizer.kind == OptimizerKind::Lion)
    return "verify cannot compare steps of --optimizer lion: the sign of a "
           "momentum that is 0 but for rounding may be either; verify the same "
           "plan with --optimizer sgd, which differs in the update alone";
  if (model.plan.programs == ProgramSet::TrainAndGenerate)
    return "verify compares either a training step or programs that continue "
           "texts with what they are made of; give --programs train, and then "
           "--programs generate";
  if (model.isArtifact())
    return "'" + model.model +
           "' is compiled: verify compares a model's serial and parallel "
           "programs, which it compiles itself; give the config.json or .mlir "
           "that it was made from, with the options of its compilation";
  return "";
}

/// Replaces `--recompute auto` by what it chooses for the model of full size
/// and checks the memory limit.
static LogicalResult chooseRecompute(MLIRContext &context,
                                     PlannedModel &options) {
  auto module = importModel(&context, options.model,
                            importOptions(options, Choices::Said));
  if (failed(module))
    return failure();
  PlanOptions plan = planOf(options, **module);
  if (failed(fitMemory(**module, plan)))
    return failure();
  options.plan.memory = plan.memory;
  return success();
}

static LogicalResult verifyTypes(MLIRContext &context,
                                 const PlannedModel &model,
                                 std::vector<Verdict> &verdicts) {
  FailureOr<TypeCheck> check = checkTypes(context, model);
  if (failed(check))
    return failure();
  verdicts.push_back(
      {"types",
       llvm::formatv(
           "{0} ops and {1} conversions obey the rule after every pass",
           check->ops, check->conversions),
       ""});
  verdicts.push_back(
      {"erasure", "without distribution it is the serial program, op for op",
       check->difference});
  if (model.plan.programs == ProgramSet::Generate && !check->isPair)
    verdicts.push_back({"time",
                        "unrolled over positions it is the model, op for op",
                        check->unrolled});
  if (encodes(model.plan.programs))
    verdicts.push_back({"model",
                        check->isPair
                            ? "it is the model's encoder, op for op"
                            : "but for the choice of positions it is the "
                              "model, op for op",
                        check->unrolled});
  return success();
}

static LogicalResult verifyNumbers(MLIRContext &context,
                                   const PlannedModel &model,
                                   Precision precision,
                                   std::vector<Verdict> &verdicts) {
  if (encodes(model.plan.programs))
    return verifyEncoding(context, model, precision, verdicts);
  return model.plan.programs == ProgramSet::Generate
             ? verifyGeneration(context, model, precision, verdicts)
             : verifyTraining(context, model, precision, verdicts);
}

FailureOr<std::vector<Verdict>> tessera::verifyModel(MLIRContext &context,
                                                     const PlannedModel &given,
                                                     const Progress &progress) {
  auto tell = [&](const std::string &what) {
    if (progress)
      progress(what);
  };
  for (const std::string &why :
       {refuseVerification(given), deviceProblem(given.plan)})
    if (!why.empty())
      return emitFailure(context, why);
  PlannedModel model = given;
  if (model.plan.programs == ProgramSet::Train &&
      failed(chooseRecompute(context, model)))
    return failure();
  std::vector<Verdict> verdicts;
  tell("checking types");
  if (failed(verifyTypes(context, model, verdicts)))
    return failure();
  std::vector<Precision> precisions = {Precision::F64};
  if (model.plan.precision != Precision::F64)
    precisions.push_back(model.plan.precision);
  for (Precision precision : precisions) {
    tell(std::string("comparing numbers in ") + nameOf(precision));
    if (failed(verifyNumbers(context, model, precision, verdicts)))
      return failure();
  }
  return verdicts;
}
