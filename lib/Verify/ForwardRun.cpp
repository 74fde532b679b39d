//===- ForwardRun.cpp - sequences as a whole, by the model ----------------===//

#include "lib/Verify/ForwardRun.h"
#include "lib/Verify/ProgramRun.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Inference/Dropout.h"
#include "tessera/Partition/ValueNames.h"
#include "tessera/Pipelines/Compile.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

/// Returns the value that is kept of an op of a serial program.
static ForwardValue valueOf(Operation *op) {
  auto sizeOf = [](Operation *of) {
    return cast<RankedTensorType>(of->getResult(0).getType()).getNumElements();
  };
  ForwardValue value{kindAndPart(op), 0};
  for (Operation *other = op->getPrevNode(); other;
       other = other->getPrevNode())
    value.before +=
        kindAndPart(other) == value.name && sizeOf(other) == sizeOf(op);
  return value;
}

Formulation tessera::formulationOf(ModuleOp module) {
  Formulation formulas;
  auto attr = module->getAttrOfType<DictionaryAttr>(nn::kFormulaAttr);
  if (!attr)
    return formulas;
  formulas.replaced = attr.getAs<IntegerAttr>("replaced").getInt();
  for (auto why : attr.getAs<ArrayAttr>("whole").getAsRange<StringAttr>())
    formulas.whole.push_back(why.str());
  return formulas;
}

FailureOr<ForwardProgram> tessera::compileForward(ModuleOp model,
                                                  Precision precision,
                                                  const std::string &path) {
  FailureOr<func::FuncOp> loss = nn::findProgram(model, "loss");
  if (failed(loss))
    return failure();
  ForwardProgram program;
  program.path = path;
  removeDropout(*loss);
  for (auto pick : loss->getOps<nn::PickOp>())
    if (Operation *op = pick.getLogits().getDefiningOp())
      program.logits = valueOf(op);
  if (Operation *op = nn::findHiddenStates(loss->getBody().front())) {
    program.hidden = valueOf(op);
    program.isEncoderAlone = nn::hasTag(op, nn::Tag::Memory);
  }
  PlanOptions plan;
  plan.precision = precision;
  plan.evaluation = false;
  plan.debugging.keepValues = true;
  plan.debugging.decomposeLayers = precision == Precision::F64;
  // Without it LLVM may round to bf16 by a call that nothing links.
  plan.debugging.optimizeCode = precision == Precision::BF16;
  if (failed(compileToArtifact(model, plan, program.path)))
    return failure();
  program.formulas = formulationOf(model);
  return program;
}

/// Runs a step, and lets `store` change the parameters that it leaves.
static llvm::Error makeParameters(ProgramRun &run, const StoreParameters &store,
                                  ForwardResult &result) {
  if (llvm::Error error = run.step(run.randomTokens(0)))
    return error;
  auto isParameter = [](const KeptTensor &tensor) {
    return tensor.role == "parameter";
  };
  for (const KeptTensor &tensor :
       llvm::make_filter_range(run.tensors, isParameter)) {
    llvm::Expected<std::vector<double>> values = run.read(tensor);
    if (!values)
      return values.takeError();
    result.parameters[tensor.name] = std::move(*values);
  }
  if (store)
    if (llvm::Error error = store(result.parameters))
      return error;
  for (const KeptTensor &tensor :
       llvm::make_filter_range(run.tensors, isParameter))
    if (llvm::Error error =
            run.write(tensor, result.parameters.at(tensor.name)))
      return error;
  return llvm::Error::success();
}

/// Values of forward come first.
static llvm::Error readValue(ProgramRun &run, const ForwardValue &value,
                             int64_t elements, std::vector<double> &values) {
  int64_t before = 0;
  for (const KeptTensor &tensor : run.tensors)
    if (tensor.role == "value" && tensor.elements == elements &&
        StringRef(tensor.name).split(':').second == value.name &&
        before++ == value.before)
      return run.read(tensor).moveInto(values);
  return llvm::createStringError("the forward program keeps no '" + value.name +
                                 "'");
}

static llvm::Error readLogits(ProgramRun &run, const ForwardValue &value,
                              ForwardResult &result) {
  return readValue(run, value,
                   result.sequences * result.length * result.vocabulary,
                   result.logits);
}

/// NaN that both programs have would be equal to nothing, and is no verdict on
/// the one that is compared.
static llvm::Error findNaN(ProgramRun &run, ForwardResult &result) {
  auto isNaN = [](double x) { return std::isnan(x); };
  if (llvm::none_of(result.logits, isNaN) &&
      llvm::none_of(result.hidden, isNaN))
    return llvm::Error::success();
  for (const KeptTensor &tensor : run.tensors) {
    if (tensor.role != "value" || !result.firstNaN.empty())
      continue;
    llvm::Expected<std::vector<double>> values = run.read(tensor);
    if (!values)
      return values.takeError();
    if (llvm::any_of(*values, isNaN))
      result.firstNaN = tensor.name;
  }
  return llvm::Error::success();
}

double tessera::forwardTolerance(Precision precision) {
  return precision == Precision::F64   ? 1e-12
         : precision == Precision::F32 ? 5e-4
                                       : 1e-1;
}

static void readSizes(const tsr_artifact *artifact, ForwardResult &result) {
  result.sequences = tsr_artifact_batch(artifact);
  result.length = tsr_artifact_sequence(artifact);
  result.vocabulary = tsr_artifact_vocabulary(artifact);
}

/// Draws sources of several lengths, and the targets that a decoder reads
/// whole.
static void splitPairs(const ProgramRun &run, std::vector<int32_t> &drawn,
                       ForwardResult &result) {
  const int64_t columns = tsr_artifact_columns(run.artifact.get());
  const auto padding = static_cast<int32_t>(*run.padding);
  std::replace(drawn.begin(), drawn.end(), padding,
               static_cast<int32_t>((padding + 1) % result.vocabulary));
  result.sourceLength = result.length;
  result.length = columns - result.sourceLength;
  for (int64_t k = 0; k < result.sequences; ++k) {
    auto row = drawn.begin() + k * columns, target = row + result.sourceLength;
    const int64_t padded = k % 3 * result.sourceLength / 4;
    std::fill(target - padded, target, padding);
    result.lengths.push_back(result.sourceLength - padded);
    result.sources.insert(result.sources.end(), row, target);
    result.tokens.push_back(static_cast<int32_t>(*run.start));
    result.tokens.insert(result.tokens.end(), target,
                         target + result.length - 1);
  }
}

llvm::Expected<ForwardResult>
tessera::runForward(const ForwardProgram &program,
                    const StoreParameters &store) {
  ProgramRun run;
  if (llvm::Error error = run.open(program.path, /*seed=*/1))
    return error;
  ForwardResult result;
  readSizes(run.artifact.get(), result);
  std::vector<int32_t> tokens = run.randomTokens(1);
  if (run.start && run.padding)
    splitPairs(run, tokens, result);
  if (llvm::Error error = makeParameters(run, store, result))
    return error;
  if (llvm::Error error = run.step(tokens))
    return error;
  for (int64_t k = 0; result.sources.empty() && k < result.sequences; ++k) {
    auto row = tokens.begin() + k * (result.length + 1);
    result.tokens.insert(result.tokens.end(), row, row + result.length);
  }
  if (llvm::Error error = readLogits(run, program.logits, result))
    return error;
  if (llvm::Error error = findNaN(run, result))
    return error;
  return result;
}

/// Draws tokens of a step, which begin with the sequences'; their types and
/// where they end.
static std::vector<int32_t> drawSequences(const ProgramRun &run,
                                          ForwardResult &result) {
  const int64_t columns = tsr_artifact_columns(run.artifact.get());
  std::vector<int32_t> drawn = run.randomTokens(1);
  run.addMasked(drawn);
  for (int64_t k = 0; k < result.sequences; ++k) {
    auto row = drawn.begin() + k * columns;
    auto end = row + result.length;
    result.tokens.insert(result.tokens.end(), row, end);
    auto padding = run.padding ? std::find(row, end, *run.padding) : end;
    result.lengths.push_back(padding - row);
    for (int64_t i = 0; i < result.length; ++i)
      result.tokenTypes.push_back((i + k) / 3 % std::max(1, run.tokenTypes));
  }
  return drawn;
}

/// Runs a step on the sequences themselves, and reads its logits.
static llvm::Error runOnSequences(ProgramRun &run,
                                  const ForwardProgram &program,
                                  ForwardResult &result) {
  if (llvm::Error error = run.stepOn(result.tokens, result.tokenTypes))
    return error;
  return readLogits(run, program.logits, result);
}

static llvm::Error readHiddenStates(ProgramRun &run, const ForwardValue &hidden,
                                    ForwardResult &result) {
  const int64_t positions = result.sequences * result.length;
  for (const KeptTensor &tensor : run.tensors)
    if (tensor.role == "value" && !result.hiddenSize &&
        StringRef(tensor.name).split(':').second == hidden.name)
      result.hiddenSize = tensor.elements / positions;
  return readValue(run, hidden, positions * result.hiddenSize, result.hidden);
}

llvm::Expected<ForwardResult>
tessera::runEncoderForward(const ForwardProgram &program,
                           const StoreParameters &store) {
  ProgramRun run;
  if (llvm::Error error = run.open(program.path, /*seed=*/1))
    return error;
  ForwardResult result;
  readSizes(run.artifact.get(), result);
  const std::vector<int32_t> drawn = drawSequences(run, result);
  if (llvm::Error error = makeParameters(run, store, result))
    return error;
  if (llvm::Error error = program.isEncoderAlone
                              ? run.step(drawn)
                              : runOnSequences(run, program, result))
    return error;
  if (llvm::Error error = readHiddenStates(run, program.hidden, result))
    return error;
  if (llvm::Error error = findNaN(run, result))
    return error;
  return result;
}
