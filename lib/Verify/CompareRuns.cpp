//===- CompareRuns.cpp - both programs, run and compared ------------------===//

#include "lib/Verify/CompareRuns.h"
#include "lib/Verify/Difference.h"
#include "lib/Verify/LargestChoice.h"
#include "lib/Verify/ProgramRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;
namespace json = llvm::json;

namespace {

constexpr int64_t kSteps = 3;

/// The largest shrunk model; a program that keeps its size may be larger.
constexpr double kShrunkLayers = 2, kShrunkTokens = 512;

/// Returns how different a value of a shrunk model may be, relative to its
/// largest element. f64: sums in another order, through 2 layers and 3 steps.
/// f32 and bf16: their rounding unit times the longest chain of sums and of exp
/// and rsqrt around them. In bf16 a logit between 16 and 32, as a T5's are, may
/// be 0.125 off, and so may the row's largest: exp moves by up to 28 %.
double toleranceOf(Precision precision) {
  return precision == Precision::F64   ? 1e-9
         : precision == Precision::F32 ? 2e-3
                                       : 3e-1;
}

/// Elements below this share of 1 count as 0: values that are 0 in exact
/// arithmetic (the gradient of attention's key bias, or of its queries where
/// there is a single key) hold only rounding noise. In f64 an error of 1e-14 is
/// allowed them: that of 45 terms of size 1 that cancel, as many as a head of a
/// shrunk model has elements.
double floorOf(Precision precision) {
  return precision == Precision::F64 ? 1e-5 : 1e-3;
}

/// AdamW moves a parameter by at most lr / epsilon times an error of its
/// gradient: it divides by sqrt(v) + epsilon, and where the gradient is 0 in
/// exact arithmetic (a query's bias over a single key) v is rounding noise.
constexpr double kUpdateCondition =
    kVerifyLearningRate / OptimizerOptions::kEpsilon;

/// A mean of gradients with no element above this, in f64, is rounding noise.
constexpr double kNoise = 1e-12;

/// The bound that f64 must have of a value that overflowed: so near to the
/// largest f32, 3.4e38, that the terms of its sum may have been beyond it.
constexpr double kNearlyInfinite = 1e30;

/// Elements that are no numbers in one of the runs, and differ in the other.
std::vector<int64_t> overflowed(const std::vector<double> &found,
                                const std::vector<double> &wanted) {
  std::vector<int64_t> elements;
  for (size_t k = 0; k < wanted.size(); ++k)
    if (!(std::isfinite(wanted[k]) && std::isfinite(found[k])) &&
        found[k] != wanted[k])
      elements.push_back(static_cast<int64_t>(k));
  return elements;
}

double largestNumber(const std::vector<double> &values) {
  double largest = 0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Reads a gradient, unless the program lacks one of its values.
llvm::Expected<std::optional<StepGradient>>
readGradient(ProgramRun &run, const KeptTensor &reference) {
  const KeptTensor *result = run.find("value", reference.name),
                   *of = run.find("value", reference.gradient),
                   *input = run.find("value", reference.input);
  if (!result || !of || !input)
    return std::nullopt;
  StepGradient gradient;
  if (llvm::Error error = run.read(*result).moveInto(gradient.result))
    return error;
  if (llvm::Error error = run.read(*of).moveInto(gradient.gradient))
    return error;
  if (llvm::Error error = run.read(*input).moveInto(gradient.input))
    return error;
  return gradient;
}

/// Reads a choice as readGradient reads a gradient.
llvm::Expected<std::optional<Choice>> readChoice(ProgramRun &run,
                                                 const KeptTensor &reference) {
  const KeptTensor *gates = run.find("value", reference.name),
                   *logits = run.find("value", reference.logits);
  if (!gates || !logits)
    return std::nullopt;
  Choice choice;
  if (llvm::Error error = run.read(*gates).moveInto(choice.gates))
    return error;
  if (llvm::Error error = run.read(*logits).moveInto(choice.logits))
    return error;
  return choice;
}

/// Compares two runs, step by step.
class Comparison {
public:
  Comparison(ProgramRun &serial, ProgramRun &parallel,
             const RunOptions &options, NumericCheck &check)
      : serial(serial), parallel(parallel), options(options), check(check),
        tolerance(toleranceOf(options.precision) * growthOf(serial.artifact)) {}

  /// Runs and compares a step and, where both programs have one, an evaluation.
  llvm::Error run(int64_t step, const std::vector<int32_t> &tokens);

private:
  llvm::Error compareState();
  llvm::Error compareEvaluations(const std::vector<int32_t> &tokens);
  llvm::Error compare(const KeptTensor &tensor, const KeptTensor &reference);
  llvm::Error judge(const KeptTensor &tensor, const KeptTensor &reference,
                    const std::vector<double> &found,
                    const std::vector<double> &wanted);
  void refuseNaN(const KeptTensor &tensor, const Difference &difference);
  void noteUpdate(const KeptTensor &tensor, const std::vector<double> &wanted);
  void noteInfinity(const KeptTensor &tensor,
                    const std::vector<double> &wanted);
  bool doubtOverflow(const KeptTensor &tensor, const std::vector<double> &found,
                     const std::vector<double> &wanted);
  llvm::Error compareCopies(const KeptTensor &tensor);
  llvm::Error doubt(const KeptTensor &reference, double allowed);
  llvm::Error doubtStep(const KeptTensor &reference, double allowed);
  llvm::Error doubtChoice(const KeptTensor &reference, double allowed);
  void noteDoubt(const std::string &input, const std::vector<double> &found,
                 const std::vector<double> &wanted,
                 std::vector<int64_t> elements, int64_t columns);
  bool hidesSteps(const KeptTensor &tensor) const;
  llvm::Error settle();
  bool isMadeByMuon(const KeptTensor &tensor) const;
  bool isNoise(const KeptTensor &tensor) const;
  bool isFinished() const { return check.doubt || !check.difference.empty(); }

  ProgramRun &serial, &parallel;
  const RunOptions &options;
  NumericCheck &check;
  double tolerance;
  int64_t step = 0;
  /// AdamW has made updates of rounding noise, which values may be made of.
  bool carriesNoise = false;
  std::string infinite; ///< The first value of the step that overflowed alike.
};

/// A parameter that Muon updates has one moment; values of its update are of
/// the part that has its name.
bool Comparison::isMadeByMuon(const KeptTensor &tensor) const {
  const bool isValue = tensor.role == "value";
  const size_t of = isValue ? tensor.name.find(" of ") : std::string::npos;
  const std::string name =
      of == std::string::npos ? tensor.name : tensor.name.substr(of + 4);
  return (isValue || tensor.role == "parameter") &&
         serial.find("moment1", name) && !serial.find("moment2", name);
}

/// AdamW divides a gradient by its own size: where the exact gradient is 0, as
/// for the key part of attention's bias, it makes steps of rounding noise. The
/// gradient and the moments are compared.
bool Comparison::isNoise(const KeptTensor &tensor) const {
  if (options.precision == Precision::F64)
    return false;
  if (!options.comparesMuon && isMadeByMuon(tensor))
    return true;
  return tensor.name.find(":adamw") != std::string::npos ||
         (tensor.role == "parameter" &&
          (tensor.name.find("c_attn.bias") != std::string::npos ||
           tensor.name.find("self.key.bias") != std::string::npos));
}

/// Returns whether steps are hidden: the last micro-batch alone is kept, and
/// what adds up over all of them may differ by a step of another one.
bool Comparison::hidesSteps(const KeptTensor &tensor) const {
  if (serial.microBatches < 2)
    return false;
  int64_t lastStep = -1, firstSum = std::numeric_limits<int64_t>::max();
  for (const KeptTensor &kept : serial.tensors)
    if (kept.jumps())
      lastStep = std::max(lastStep, kept.number());
  for (const KeptTensor &kept : serial.tensors)
    if (kept.role == "value" && kept.number() > lastStep &&
        kept.name.find(":micro_batches") != std::string::npos)
      firstSum = std::min(firstSum, kept.number());
  return lastStep >= 0 &&
         (tensor.role != "value" || tensor.number() >= firstSum);
}

/// Leaves to f64 what rounding of an input may have decided.
llvm::Error Comparison::doubt(const KeptTensor &reference, double allowed) {
  if (options.precision == Precision::F64)
    return llvm::Error::success();
  if (hidesSteps(reference))
    check.doubt = Doubt{step, "", {}, 0};
  if (!reference.input.empty())
    return doubtStep(reference, allowed);
  if (!reference.logits.empty())
    return doubtChoice(reference, allowed);
  return llvm::Error::success();
}

/// Two runs may each have moved what decides by its tolerance.
void Comparison::noteDoubt(const std::string &input,
                           const std::vector<double> &found,
                           const std::vector<double> &wanted,
                           std::vector<int64_t> elements, int64_t columns) {
  double largest =
      differenceOf(found, wanted, floorOf(options.precision)).largest;
  double margin = tolerance * largest * (columns ? 2 : 1);
  check.doubt = Doubt{step, input, std::move(elements), margin, columns};
}

llvm::Error Comparison::doubtStep(const KeptTensor &reference, double allowed) {
  auto wanted = readGradient(serial, reference);
  if (!wanted)
    return wanted.takeError();
  auto found = readGradient(parallel, reference);
  if (!found)
    return found.takeError();
  if (*wanted && *found)
    if (auto elements = elementsAtStep(**wanted, **found, allowed))
      noteDoubt(reference.input, (*found)->input, (*wanted)->input, *elements,
                0);
  return llvm::Error::success();
}

llvm::Error Comparison::doubtChoice(const KeptTensor &reference,
                                    double allowed) {
  auto wanted = readChoice(serial, reference);
  if (!wanted)
    return wanted.takeError();
  auto found = readChoice(parallel, reference);
  if (!found)
    return found.takeError();
  const int64_t columns = reference.columns;
  if (*wanted && *found)
    if (auto elements =
            elementsOfOtherChoice(**wanted, **found, columns, allowed))
      noteDoubt(reference.logits, (*found)->logits, (*wanted)->logits,
                *elements, columns);
  return llvm::Error::success();
}

llvm::Error Comparison::compareCopies(const KeptTensor &tensor) {
  llvm::Expected<bool> agree = parallel.copiesAgree(tensor);
  if (!agree)
    return agree.takeError();
  if (!*agree && !isFinished())
    check.difference = llvm::formatv("ranks hold different copies of {0} {1} "
                                     "after step {2}",
                                     tensor.role, tensor.name, step);
  return llvm::Error::success();
}

/// NaN in f64 is a failure even where both programs have it: they may share
/// the fault.
void Comparison::refuseNaN(const KeptTensor &tensor,
                           const Difference &difference) {
  bool isFound = difference.foundNaN >= 0, isWanted = difference.wantedNaN >= 0;
  std::string where = isWanted ? "the serial program" : "";
  if (isFound)
    where += std::string(isWanted ? " and " : "") + "the " + options.other;
  check.difference = llvm::formatv(
      "{0} {1} has NaN in {2} after step {3}, first in element {4}",
      tensor.role, tensor.name, where, step,
      isWanted ? difference.wantedNaN : difference.foundNaN);
}

/// A parameter of noise is read by the steps that follow.
void Comparison::noteUpdate(const KeptTensor &tensor,
                            const std::vector<double> &wanted) {
  double largest = tensor.role == "moment1" ? largestNumber(wanted) : 0;
  carriesNoise |= largest > 0 && largest < kNoise;
}

/// Infinities that both runs have are equal, but what follows from them may be
/// NaN in both: then f64 must have their value near the range of f32.
void Comparison::noteInfinity(const KeptTensor &tensor,
                              const std::vector<double> &wanted) {
  bool isHiddenRow = tensor.name.find(":attention") != std::string::npos;
  if (infinite.empty() && !isHiddenRow && tensor.role == "value" &&
      llvm::any_of(wanted, [](double x) { return std::isinf(x); }))
    infinite = tensor.name;
}

/// Leaves to f64 what is beyond the range of f32.
bool Comparison::doubtOverflow(const KeptTensor &tensor,
                               const std::vector<double> &found,
                               const std::vector<double> &wanted) {
  if (tensor.role != "value")
    return false;
  std::vector<int64_t> elements = overflowed(found, wanted);
  if (elements.empty())
    return false;
  check.doubt = Doubt{step,
                      infinite.empty() ? tensor.name : infinite,
                      std::move(elements),
                      0,
                      0,
                      kNearlyInfinite};
  return true;
}

llvm::Error Comparison::judge(const KeptTensor &tensor,
                              const KeptTensor &reference,
                              const std::vector<double> &found,
                              const std::vector<double> &wanted) {
  const bool isExact = options.precision == Precision::F64;
  double floor = floorOf(options.precision);
  if (isExact && (tensor.isUpdate() || carriesNoise))
    floor *= kUpdateCondition;
  Difference difference = differenceOf(found, wanted, floor);
  double error = difference.relative();
  bool differs = !(error <= tolerance);
  if (!isExact && differs && doubtOverflow(tensor, found, wanted))
    return llvm::Error::success();
  if (isExact)
    noteUpdate(tensor, wanted);
  else
    noteInfinity(tensor, wanted);
  if (differs)
    if (llvm::Error failure = doubt(reference, tolerance * difference.largest))
      return failure;
  if (check.doubt)
    return llvm::Error::success();
  ++check.values;
  if (error > check.worst || std::isnan(error)) {
    check.worst = error;
    check.worstName = tensor.role + " " + tensor.name;
  }
  if (!differs || !check.difference.empty())
    return llvm::Error::success();
  if (isExact && difference.hasNaN())
    refuseNaN(tensor, difference);
  else
    check.difference = llvm::formatv(
        "{0} {1} differs after step {2}: by {3:e1} of its largest element, "
        "{4:e1} is allowed",
        tensor.role, tensor.name, step, error, tolerance);
  return llvm::Error::success();
}

llvm::Error Comparison::compare(const KeptTensor &tensor,
                                const KeptTensor &reference) {
  llvm::Expected<std::vector<double>> found = parallel.read(tensor);
  if (!found)
    return found.takeError();
  llvm::Expected<std::vector<double>> wanted = serial.read(reference);
  if (!wanted)
    return wanted.takeError();
  if (llvm::Error error = judge(tensor, reference, *found, *wanted))
    return error;
  return check.doubt ? llvm::Error::success() : compareCopies(tensor);
}

/// Returns why f64's x does not explain a doubt; "": it does, rounding can move
/// it across the jump or out of the range of f32.
std::string contradiction(const Doubt &doubt, const std::vector<double> &x) {
  if (doubt.beyond > 0) {
    double largest = largestNumber(x);
    if (largest >= doubt.beyond)
      return "";
    return llvm::formatv("value {0} is infinite or NaN after step {1}, but at "
                         "most {2:e2} in f64",
                         doubt.input, doubt.step, largest);
  }
  int64_t element =
      doubt.columns ? firstAwayFromTie(x, doubt) : firstAwayFromStep(x, doubt);
  if (element < 0)
    return "";
  return llvm::formatv(
      "element {0} of value {1} is {2:e2} in f64 after step {3}, too far "
      "from {4} for the sides that it is on without f64: {5:e1} is allowed",
      element, doubt.input, x[element], doubt.step,
      doubt.columns ? "the others of its row" : "0", doubt.margin);
}

llvm::Error Comparison::settle() {
  const Doubt *doubt = options.doubt;
  if (!doubt || doubt->step != step || doubt->input.empty())
    return llvm::Error::success();
  for (ProgramRun *run : {&serial, &parallel}) {
    const KeptTensor *tensor = run->find("value", doubt->input);
    if (!tensor)
      continue;
    llvm::Expected<std::vector<double>> x = run->read(*tensor);
    if (!x)
      return x.takeError();
    if (check.difference.empty())
      check.difference = contradiction(*doubt, *x);
  }
  return llvm::Error::success();
}

llvm::Error Comparison::compareState() {
  infinite.clear();
  for (const KeptTensor &tensor : parallel.tensors) {
    const KeptTensor *reference = serial.find(tensor.role, tensor.name);
    if (!reference || isNoise(tensor))
      continue;
    if (llvm::Error error = compare(tensor, *reference))
      return error;
    if (check.doubt)
      return llvm::Error::success();
  }
  return settle();
}

/// Compares evaluations. Several rounded logits may be the largest, and
/// rounding chooses one.
llvm::Error Comparison::compareEvaluations(const std::vector<int32_t> &tokens) {
  llvm::Expected<tsr_evaluation> found = parallel.evaluate(tokens);
  if (!found)
    return found.takeError();
  llvm::Expected<tsr_evaluation> wanted = serial.evaluate(tokens);
  if (!wanted)
    return wanted.takeError();
  double error =
      std::fabs(found->loss - wanted->loss) / std::fabs(wanted->loss);
  bool isExact = options.precision == Precision::F64;
  ++check.values;
  if (!(error <= tolerance) || found->labels != wanted->labels ||
      (isExact && found->correct != wanted->correct))
    check.difference = llvm::formatv(
        "the evaluation after step {0} has loss {1} over {2} labels, {3} of "
        "them predicted; the serial one has {4} over {5}, {6} predicted",
        step, found->loss, found->labels, found->correct, wanted->loss,
        wanted->labels, wanted->correct);
  return llvm::Error::success();
}

llvm::Error Comparison::run(int64_t number,
                            const std::vector<int32_t> &tokens) {
  step = number;
  if (llvm::Error error = serial.step(tokens))
    return error;
  if (llvm::Error error = parallel.step(tokens))
    return error;
  if (llvm::Error error = compareState())
    return error;
  if (serial.hasEvaluation && parallel.hasEvaluation && !isFinished())
    return compareEvaluations(tokens);
  return llvm::Error::success();
}

} // namespace

double tessera::growthOf(const ArtifactFile &artifact) {
  double tokens = static_cast<double>(tsr_artifact_batch(artifact.get())) *
                  static_cast<double>(tsr_artifact_sequence(artifact.get()));
  double layers = kShrunkLayers;
  if (llvm::Expected<program::Program> read = artifact.readProgram())
    layers = static_cast<double>(read->model.layers);
  else
    llvm::consumeError(read.takeError());
  return std::max(1.0, std::sqrt(tokens / kShrunkTokens)) *
         std::max(1.0, layers / kShrunkLayers);
}

llvm::Expected<NumericCheck>
tessera::compareRuns(const std::string &serialPath,
                     const std::string &parallelPath,
                     const RunOptions &options) {
  ProgramRun serial, parallel;
  uint64_t seed = options.trial + 1;
  if (llvm::Error error = serial.open(serialPath, seed))
    return error;
  if (llvm::Error error = parallel.open(parallelPath, seed))
    return error;
  NumericCheck check;
  check.messages = parallel.messages;
  Comparison comparison(serial, parallel, options, check);
  int64_t steps = options.doubt          ? options.doubt->step + 1
                  : options.comparesMuon ? kSteps
                                         : 1;
  for (int64_t step = 0;
       step < steps && !check.doubt && check.difference.empty(); ++step) {
    std::vector<int32_t> tokens =
        serial.randomTokens(options.trial * kSteps + step);
    serial.addMasked(tokens);
    if (llvm::Error error = comparison.run(step, tokens))
      return error;
    check.steps = step + 1;
  }
  return check;
}
