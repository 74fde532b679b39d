//===- VerifyTraining.cpp - checks of training steps ----------------------===//

#include "lib/Verify/VerifyTraining.h"
#include "lib/Verify/NumericVerdict.h"
#include "lib/Verify/ShrunkProgram.h"
#include "tessera/Options/Counted.h"
#include "tessera/Pipelines/EmitError.h"
#include "tessera/Target/TemporaryFile.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

namespace {

FailureOr<NumericCheck> compareFiles(MLIRContext &context,
                                     const TemporaryFile &serial,
                                     const TemporaryFile &other,
                                     const RunOptions &run) {
  llvm::Expected<NumericCheck> check =
      compareRuns(serial.path.str().str(), other.path.str().str(), run);
  if (!check)
    return emitFailure(context, check.takeError());
  return std::move(*check);
}

/// The serial program and the parallel one.
struct ProgramPair {
  TemporaryFile serial, parallel;

  /// Both get the same sequences: the serial program takes the mesh's batch.
  LogicalResult compile(MLIRContext &context, const PlannedModel &model,
                        Precision precision, Precision optimizer) {
    auto compileSide = [&](Side side, TemporaryFile &file) {
      return success(
          succeeded(createProgramFile(context, file)) &&
          succeeded(compileShrunk(context, model, {side, precision, optimizer},
                                  file.path.str().str())));
    };
    return success(succeeded(compileSide(Side::Parallel, parallel)) &&
                   succeeded(compileSide(Side::Serial, serial)));
  }
};

/// f64 on what another precision cannot decide, compiled when that happens.
class Judge {
public:
  Judge(MLIRContext &context, const PlannedModel &model, Precision precision)
      : context(context), model(model), precision(precision) {}

  /// Replaces the doubt by a difference if f64 has one.
  LogicalResult settle(int64_t trial, NumericCheck &check) {
    if (!isCompiled && failed(programs.compile(context, model, Precision::F64,
                                               /*optimizer=*/precision)))
      return failure();
    isCompiled = true;
    FailureOr<NumericCheck> found =
        compareFiles(context, programs.serial, programs.parallel,
                     {Precision::F64, trial, &*check.doubt});
    if (failed(found))
      return failure();
    check.difference = found->difference;
    return success();
  }

private:
  MLIRContext &context;
  const PlannedModel &model;
  Precision precision;
  ProgramPair programs;
  bool isCompiled = false;
};

/// In bf16, updates of Muon are as good as random in the directions in which a
/// gradient is small; f64 has judged them.
bool comparesMuon(const PlannedModel &model, Precision precision) {
  return precision != Precision::BF16 ||
         model.plan.optimizer.kind != OptimizerKind::Muon;
}

/// Trials that all end in a doubt: the program has too many inputs.
constexpr int64_t kTrials = 50;

std::string noTrialText(Precision precision) {
  return llvm::formatv(
      "in each of {0} trials a value jumps within rounding of its input, "
      "so that {1} cannot be compared; use a smaller --batch or --seq-length",
      kTrials, nameOf(precision));
}

/// Compares in one trial after another, until one leaves no doubt: it alone
/// counts. f64 must settle the doubts of those before.
FailureOr<NumericCheck> compareTrials(MLIRContext &context,
                                      const PlannedModel &model,
                                      Precision precision,
                                      const ProgramPair &programs) {
  Judge judge(context, model, precision);
  NumericCheck check;
  int64_t elements = 0;
  for (int64_t trial = 0; trial < kTrials; ++trial) {
    RunOptions run{precision, trial};
    run.comparesMuon = comparesMuon(model, precision);
    FailureOr<NumericCheck> compared =
        compareFiles(context, programs.serial, programs.parallel, run);
    if (failed(compared))
      return failure();
    check = std::move(*compared);
    check.judgedElements = elements;
    check.judgedTrials = trial;
    if (!check.doubt)
      return check;
    if (failed(judge.settle(trial, check)))
      return failure();
    if (!check.difference.empty())
      return check;
    elements += static_cast<int64_t>(check.doubt->elements.size());
  }
  check.judgedElements = elements;
  check.judgedTrials = kTrials;
  check.difference = noTrialText(precision);
  return check;
}

/// The serial program with attention, norms and rotations as formulas.
struct FormulaPair {
  TemporaryFile serial, formulas;
  Formulation made;

  LogicalResult create(MLIRContext &context) {
    return success(succeeded(createProgramFile(context, serial)) &&
                   succeeded(createProgramFile(context, formulas)));
  }
  LogicalResult compile(MLIRContext &context, const PlannedModel &model) {
    FailureOr<Formulation> compiled =
        compileSide(context, model, Side::Formulas, formulas.path.str().str());
    if (succeeded(compiled))
      made = std::move(*compiled);
    return compiled;
  }
  LogicalResult compileSerial(MLIRContext &context, const PlannedModel &model) {
    return compileSide(context, model, Side::Serial, serial.path.str().str());
  }

private:
  static FailureOr<Formulation> compileSide(MLIRContext &context,
                                            const PlannedModel &model,
                                            Side side,
                                            const std::string &path) {
    return compileShrunk(context, model, {side, Precision::F64, Precision::F64},
                         path);
  }
};

/// The batch of a whole mesh may have too many scores.
PlannedModel withBatchOfOneRank(const PlannedModel &model) {
  PlannedModel smaller = model;
  if (!model.isProgram()) {
    smaller.plan.mesh = {};
    smaller.plan.sizes.batch = 0;
  }
  return smaller;
}

Verdict formulaVerdict(const Formulation &made, const NumericCheck &check) {
  return {"formulas",
          llvm::formatv("{0} of attention, norms and rotations written as "
                        "products, sums and maps: {1}, largest difference "
                        "{2:e1}{3}{4}",
                        counted(made.replaced, "op"),
                        counted(check.values, "value"), check.worst,
                        worstText(check), wholeText(made)),
          check.difference};
}

/// A fault of a kernel that both programs have shows only here.
LogicalResult verifyFormulas(MLIRContext &context, const PlannedModel &model,
                             const ProgramPair &programs,
                             std::vector<Verdict> &verdicts) {
  FormulaPair pair;
  PlannedModel plain = model;
  plain.plan.strategies.layoutInvariant = 0; // Its sums are ops of their own.
  if (failed(pair.create(context)) || failed(pair.compile(context, plain)))
    return failure();
  if (!pair.made.replaced && pair.made.whole.empty())
    return success();
  bool isSmaller = !pair.made.whole.empty() && !model.isProgram();
  if (isSmaller) {
    plain = withBatchOfOneRank(plain);
    if (failed(pair.compile(context, plain)))
      return failure();
  }
  bool isOther = isSmaller || model.plan.strategies.layoutInvariant;
  if (isOther && failed(pair.compileSerial(context, plain)))
    return failure();
  RunOptions run{Precision::F64};
  run.other = "program of formulas";
  FailureOr<NumericCheck> check = compareFiles(
      context, isOther ? pair.serial : programs.serial, pair.formulas, run);
  if (failed(check))
    return failure();
  verdicts.push_back(formulaVerdict(pair.made, *check));
  return success();
}

} // namespace

LogicalResult tessera::verifyTraining(MLIRContext &context,
                                      const PlannedModel &model,
                                      Precision precision,
                                      std::vector<Verdict> &verdicts) {
  ProgramPair programs;
  if (failed(
          programs.compile(context, model, precision, /*optimizer=*/precision)))
    return failure();
  FailureOr<NumericCheck> check =
      compareTrials(context, model, precision, programs);
  if (failed(check))
    return failure();
  if (check->messages && precision == Precision::F64)
    verdicts.push_back(
        {"messages",
         llvm::formatv("{0} sends, receives and barriers of stages end, though "
                       "nothing is buffered",
                       check->messages),
         ""});
  if (!comparesMuon(model, precision))
    check->note = "; updates of muon are not comparable in bf16: f64 judges "
                  "them";
  verdicts.push_back(numericVerdict(model, precision, *check,
                                    counted(check->values, "value")));
  return precision == Precision::F64
             ? verifyFormulas(context, model, programs, verdicts)
             : success();
}
