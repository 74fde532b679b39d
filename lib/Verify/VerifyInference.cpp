//===- VerifyInference.cpp - checks of programs for inference -------------===//

#include "lib/Verify/VerifyInference.h"
#include "lib/Verify/CompareEncoding.h"
#include "lib/Verify/CompareGeneration.h"
#include "lib/Verify/NumericVerdict.h"
#include "lib/Verify/ShrunkProgram.h"
#include "tessera/Options/Counted.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Target/TemporaryFile.h"

using namespace mlir;
using namespace tessera;

/// Says what the programs are compared with.
static std::string formulaText(const Formulation &formulas) {
  if (!formulas.replaced)
    return "";
  return "; compared with " + counted(formulas.replaced, "op") +
         " written as products, sums and maps" + wholeText(formulas);
}

namespace {

/// The files of the programs and of the model's forward program.
struct InferencePair {
  TemporaryFile program, forward;

  LogicalResult create(MLIRContext &context) {
    return success(succeeded(createProgramFile(context, program)) &&
                   succeeded(createProgramFile(context, forward)));
  }
  InferencePaths paths() const {
    return {program.path.str().str(), forward.path.str().str()};
  }
};

} // namespace

/// Returns how the forward program gets the parameters that the programs store
/// in another type than they compute in.
static StoreParameters
storeBy(const PlannedModel &model, const std::string &path,
        llvm::Error (*store)(const std::string &, NamedValues &)) {
  if (model.plan.weights == WeightStorage::Precision)
    return {};
  return [path, store](NamedValues &parameters) {
    return store(path, parameters);
  };
}

LogicalResult tessera::verifyGeneration(MLIRContext &context,
                                        const PlannedModel &model,
                                        Precision precision,
                                        std::vector<Verdict> &verdicts) {
  InferencePair files;
  if (failed(files.create(context)))
    return failure();
  const InferencePaths paths = files.paths();
  FailureOr<ForwardProgram> program =
      compileShrunkGeneration(context, model, precision, paths);
  if (failed(program))
    return failure();
  llvm::Expected<ForwardResult> forward =
      runForward(*program, storeBy(model, paths.program, storeParameters));
  if (!forward)
    return emitFailure(context, forward.takeError());
  llvm::Expected<NumericCheck> check =
      compareGeneration(paths.program, *forward, {precision});
  if (!check)
    return emitFailure(context, check.takeError());
  check->note = formulaText(program->formulas);
  verdicts.push_back(numericVerdict(
      model, precision, *check,
      std::string(model.plan.generation.candidates ? "candidates" : "logits") +
          " and scores after " + counted(check->values, "position")));
  return success();
}

LogicalResult tessera::verifyEncoding(MLIRContext &context,
                                      const PlannedModel &model,
                                      Precision precision,
                                      std::vector<Verdict> &verdicts) {
  InferencePair files;
  if (failed(files.create(context)))
    return failure();
  const InferencePaths paths = files.paths();
  FailureOr<ForwardProgram> program =
      compileShrunkEncoding(context, model, precision, paths);
  if (failed(program))
    return failure();
  llvm::Expected<ForwardResult> forward = runEncoderForward(
      *program, storeBy(model, paths.program, storeEncoderParameters));
  if (!forward)
    return emitFailure(context, forward.takeError());
  llvm::Expected<NumericCheck> check =
      compareEncoding(paths.program, *forward, precision);
  if (!check)
    return emitFailure(context, check.takeError());
  check->note = formulaText(program->formulas);
  verdicts.push_back(numericVerdict(model, precision, *check,
                                    (program->isEncoderAlone
                                         ? "hidden states of "
                                         : "hidden states and logits of ") +
                                        counted(check->values, "position")));
  return success();
}
