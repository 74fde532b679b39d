//===- ForwardRun.cpp - sequences as a whole, by the model ----------------===//

#include "tools/tessera/verify/ForwardRun.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Dropout.h"
#include "tessera/Partition/ValueNames.h"
#include "tessera/Pipelines/Compile.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/verify/ProgramRun.h"

using namespace mlir;
using namespace tessera;

bool tessera::compileForward(ModuleOp model, Precision precision,
                             ForwardProgram &program) {
  FailureOr<func::FuncOp> loss = nn::findProgram(model, "loss");
  if (failed(loss))
    return false;
  removeDropout(*loss);
  for (auto pick : loss->getOps<nn::PickOp>())
    if (Operation *op = pick.getLogits().getDefiningOp())
      program.logits = kindAndPart(op);
  PlanOptions plan;
  plan.precision = precision;
  plan.evaluation = false;
  plan.debugging.keepValues = true;
  plan.debugging.optimizeCode = false;
  return succeeded(compileToArtifact(model, plan, program.path));
}

static bool readParameters(ProgramRun &run, ForwardResult &result) {
  for (const KeptTensor &tensor : run.tensors)
    if (tensor.role == "parameter" &&
        !run.read(tensor, result.parameters[tensor.name]))
      return false;
  return true;
}

static bool writeParameters(ProgramRun &run, const ForwardResult &result) {
  for (const KeptTensor &tensor : run.tensors)
    if (tensor.role == "parameter" &&
        !run.write(tensor, result.parameters.at(tensor.name)))
      return false;
  return true;
}

/// The first value of that name and size is of forward.
static bool readLogits(ProgramRun &run, const std::string &name,
                       ForwardResult &result) {
  int64_t elements = result.sequences * result.length * result.vocabulary;
  for (const KeptTensor &tensor : run.tensors)
    if (tensor.role == "value" && tensor.elements == elements &&
        StringRef(tensor.name).split(':').second == name)
      return run.read(tensor, result.logits);
  return !printError("the forward program keeps no '" + name + "'");
}

bool tessera::runForward(const ForwardProgram &program,
                         const std::function<bool(NamedValues &)> &store,
                         ForwardResult &result) {
  ProgramRun run;
  if (!run.open(program.path, /*seed=*/1))
    return false;
  const tsr_artifact *artifact = run.artifact.get();
  result.sequences = tsr_artifact_batch(artifact);
  result.length = tsr_artifact_sequence(artifact);
  result.vocabulary = tsr_artifact_vocabulary(artifact);
  double loss;
  std::vector<int32_t> tokens = run.randomTokens(1);
  if (!run.step(run.randomTokens(0), loss) || !readParameters(run, result) ||
      !store(result.parameters) || !writeParameters(run, result) ||
      !run.step(tokens, loss))
    return false;
  for (int64_t k = 0; k < result.sequences; ++k) {
    auto row = tokens.begin() + k * (result.length + 1);
    result.tokens.insert(result.tokens.end(), row, row + result.length);
  }
  return readLogits(run, program.logits, result);
}
