//===- Verify.cpp - tessera verify ----------------------------------------===//
// Is the parallel program the serial one? By types, by erasure, by numbers; of
// programs for inference: are they the model?
//===----------------------------------------------------------------------===//

#include "tessera/Options/Counted.h"
#include "tessera/Target/TemporaryFile.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/report/DeviceReport.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include "tools/tessera/verify/VerifyEncoding.h"
#include "tools/tessera/verify/VerifyGeneration.h"
#include "tools/tessera/verify/VerifyNumerics.h"
#include "tools/tessera/verify/VerifyPrograms.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace {

struct VerifyOptions : PlannedModel {
  bool json = false;
};

/// One line of the table.
struct Verdict {
  std::string check, what, failure;
};

/// Prints an error and returns false if there can be no such file.
bool create(TemporaryFile &file) {
  if (std::error_code error = file.create("tsr"))
    return !printError(describeTemporary(error));
  return true;
}

/// The serial program and the parallel one.
struct ProgramPair {
  TemporaryFile serial, parallel;

  /// Both get the same sequences: the serial program takes the mesh's batch.
  bool compile(const VerifyOptions &options, Precision precision,
               Precision optimizer) {
    return create(serial) && create(parallel) &&
           compileShrunk(options, {Side::Parallel, precision, optimizer},
                         parallel.path.str().str()) &&
           compileShrunk(options, {Side::Serial, precision, optimizer},
                         serial.path.str().str());
  }
  bool compare(const RunOptions &run, NumericCheck &check) const {
    return compareRuns(serial.path.str().str(), parallel.path.str().str(), run,
                       check);
  }
};

class Verification {
public:
  explicit Verification(const VerifyOptions &options) : options(options) {}
  int run();

private:
  bool types();
  bool numerics(Precision precision);
  bool training(Precision precision);
  bool formulas(const ProgramPair &programs);
  bool generation(Precision precision);
  bool encoding(Precision precision);
  void add(Precision precision, const NumericCheck &check,
           const std::string &what);
  int report() const;

  const VerifyOptions &options;
  std::vector<Verdict> verdicts;
};

bool Verification::types() {
  TypeCheck check;
  if (!checkTypes(options, check))
    return false;
  verdicts.push_back(
      {"types",
       llvm::formatv(
           "{0} ops and {1} conversions obey the rule after every pass",
           check.ops, check.conversions),
       ""});
  verdicts.push_back(
      {"erasure", "without distribution it is the serial program, op for op",
       check.difference});
  if (options.plan.programs == ProgramSet::Generate && !check.isPair)
    verdicts.push_back({"time",
                        "unrolled over positions it is the model, op for op",
                        check.unrolled});
  if (encodes(options.plan.programs))
    verdicts.push_back({"model",
                        check.isPair
                            ? "it is the model's encoder, op for op"
                            : "but for the choice of positions it is the "
                              "model, op for op",
                        check.unrolled});
  return true;
}

/// Decides in f64 what another precision cannot; it is compiled when that
/// happens.
class Judge {
public:
  Judge(const VerifyOptions &options, Precision precision)
      : options(options), precision(precision) {}

  /// Replaces the doubt by a difference if f64 has one.
  bool settle(int64_t trial, NumericCheck &check) {
    if (!isCompiled &&
        !programs.compile(options, Precision::F64, /*optimizer=*/precision))
      return false;
    isCompiled = true;
    NumericCheck found;
    if (!programs.compare({Precision::F64, trial, &*check.doubt}, found))
      return false;
    check.difference = found.difference;
    return true;
  }

private:
  const VerifyOptions &options;
  Precision precision;
  ProgramPair programs;
  bool isCompiled = false;
};

/// In bf16, updates of Muon are as good as random in the directions in which a
/// gradient is small; f64 has judged them.
bool comparesMuon(const VerifyOptions &options, Precision precision) {
  return precision != Precision::BF16 ||
         options.plan.optimizer.kind != OptimizerKind::Muon;
}

/// Trials that all end in a doubt: the program has too many inputs.
constexpr int64_t kTrials = 50;

/// Compares in one trial after another, until one leaves no doubt: it alone
/// counts. f64 must settle the doubts of those before.
bool compareTrials(const VerifyOptions &options, Precision precision,
                   ProgramPair &programs, NumericCheck &check) {
  if (!programs.compile(options, precision, /*optimizer=*/precision))
    return false;
  Judge judge(options, precision);
  int64_t elements = 0;
  for (int64_t trial = 0; trial < kTrials; ++trial) {
    check = {};
    check.judgedElements = elements;
    check.judgedTrials = trial;
    RunOptions run{precision, trial};
    run.comparesMuon = comparesMuon(options, precision);
    if (!programs.compare(run, check))
      return false;
    if (!check.doubt)
      return true;
    if (!judge.settle(trial, check))
      return false;
    if (!check.difference.empty())
      return true;
    elements += static_cast<int64_t>(check.doubt->elements.size());
  }
  check.judgedElements = elements;
  check.judgedTrials = kTrials;
  check.difference = llvm::formatv(
      "in each of {0} trials a value jumps within rounding of its input, "
      "so that {1} cannot be compared; use a smaller --batch or --seq-length",
      kTrials, nameOf(precision));
  return true;
}

/// Says in the table what f64 decided.
std::string judgedText(const NumericCheck &check) {
  if (!check.judgedTrials)
    return "";
  std::string where =
      check.judgedElements
          ? llvm::formatv("{0} elements where a value jumps or overflows",
                          check.judgedElements)
                .str()
          : "a value that jumps";
  return llvm::formatv("; f64 judged {0}, in {1} earlier trials", where,
                       check.judgedTrials);
}

void Verification::add(Precision precision, const NumericCheck &check,
                       const std::string &what) {
  verdicts.push_back(
      {nameOf(precision),
       llvm::formatv(
           "{0} over {1}, largest difference {2:e1}{3}{4}{5}", what,
           counted(check.steps, "step"), check.worst,
           check.worstName.empty() ? "" : " (" + check.worstName + ")",
           judgedText(check) + check.note,
           options.isProgram() ? "; at full size: only a config can be shrunk"
                               : ""),
       check.difference});
}

/// Returns "; not attention of h.0: its batch has ..", or "".
std::string wholeText(const Formulation &formulas) {
  return formulas.whole.empty()
             ? ""
             : "; not " + llvm::join(formulas.whole, ", not ");
}

/// Says in the table what programs for inference are compared with.
std::string formulaText(const Formulation &formulas) {
  if (!formulas.replaced)
    return "";
  return "; compared with " + counted(formulas.replaced, "op") +
         " written as products, sums and maps" + wholeText(formulas);
}

/// The serial program with attention, norms and rotations as formulas.
struct FormulaPair {
  TemporaryFile serial, formulas;
  Formulation made;

  bool create() { return ::create(serial) && ::create(formulas); }
  bool compile(const VerifyOptions &options) {
    return compileShrunk(options,
                         {Side::Formulas, Precision::F64, Precision::F64},
                         formulas.path.str().str(), &made);
  }
  bool compileSerial(const VerifyOptions &options) {
    return compileShrunk(options,
                         {Side::Serial, Precision::F64, Precision::F64},
                         serial.path.str().str());
  }
};

/// The batch of a whole mesh may have too many scores.
VerifyOptions withBatchOfOneRank(const VerifyOptions &options) {
  VerifyOptions smaller = options;
  if (!options.isProgram()) {
    smaller.plan.mesh = {};
    smaller.plan.sizes.batch = 0;
  }
  return smaller;
}

/// A fault of a kernel that both programs have shows only here.
bool Verification::formulas(const ProgramPair &programs) {
  FormulaPair pair;
  VerifyOptions plain = options;
  plain.plan.strategies.layoutInvariant = 0; // Its sums are ops of their own.
  if (!pair.create() || !pair.compile(plain))
    return false;
  if (!pair.made.replaced && pair.made.whole.empty())
    return true;
  bool isSmaller = !pair.made.whole.empty() && !options.isProgram();
  if (isSmaller) {
    plain = withBatchOfOneRank(plain);
    if (!pair.compile(plain))
      return false;
  }
  bool isOther = isSmaller || options.plan.strategies.layoutInvariant;
  if (isOther && !pair.compileSerial(plain))
    return false;
  const TemporaryFile &serial = isOther ? pair.serial : programs.serial;
  NumericCheck check;
  RunOptions run{Precision::F64};
  run.other = "program of formulas";
  if (!compareRuns(serial.path.str().str(), pair.formulas.path.str().str(), run,
                   check))
    return false;
  verdicts.push_back(
      {"formulas",
       llvm::formatv("{0} of attention, norms and rotations written as "
                     "products, sums and maps: {1}, largest difference "
                     "{2:e1}{3}{4}",
                     counted(pair.made.replaced, "op"),
                     counted(check.values, "value"), check.worst,
                     check.worstName.empty() ? ""
                                             : " (" + check.worstName + ")",
                     wholeText(pair.made)),
       check.difference});
  return true;
}

bool Verification::training(Precision precision) {
  NumericCheck check;
  ProgramPair programs;
  if (!compareTrials(options, precision, programs, check))
    return false;
  if (check.messages && precision == Precision::F64)
    verdicts.push_back(
        {"messages",
         llvm::formatv("{0} sends, receives and barriers of stages end, though "
                       "nothing is buffered",
                       check.messages),
         ""});
  if (!comparesMuon(options, precision))
    check.note = "; updates of muon are not comparable in bf16: f64 judges "
                 "them";
  add(precision, check, counted(check.values, "value"));
  return precision != Precision::F64 || formulas(programs);
}

bool Verification::generation(Precision precision) {
  TemporaryFile steps, whole;
  if (!create(steps) || !create(whole))
    return false;
  std::string path = steps.path.str().str();
  ForwardProgram program{whole.path.str().str(), {}, {}};
  ForwardResult forward;
  NumericCheck check;
  auto store = [&](NamedValues &parameters) {
    return options.plan.weights == WeightStorage::Precision ||
           storeParameters(path, parameters);
  };
  if (!compileShrunkGeneration(options, precision, path, program) ||
      !runForward(program, store, forward))
    return false;
  check.difference = forward.refusal();
  if (check.difference.empty() &&
      !compareGeneration(path, forward, {precision}, check))
    return false;
  check.note = formulaText(program.formulas);
  add(precision, check,
      std::string(options.plan.generation.candidates ? "candidates"
                                                     : "logits") +
          " and scores after " + counted(check.values, "position"));
  return true;
}

bool Verification::encoding(Precision precision) {
  TemporaryFile program, whole;
  if (!create(program) || !create(whole))
    return false;
  std::string path = program.path.str().str();
  ForwardProgram model{whole.path.str().str(), {}, {}};
  ForwardResult forward;
  NumericCheck check;
  auto store = [&](NamedValues &parameters) {
    return options.plan.weights == WeightStorage::Precision ||
           storeEncoderParameters(path, parameters);
  };
  if (!compileShrunkEncoding(options, precision, path, model) ||
      !runEncoderForward(model, store, forward))
    return false;
  check.difference = forward.refusal();
  if (check.difference.empty() &&
      !compareEncoding(path, forward, precision, check))
    return false;
  check.note = formulaText(model.formulas);
  add(precision, check,
      (model.isEncoderAlone ? "hidden states of "
                            : "hidden states and logits of ") +
          counted(check.values, "position"));
  return true;
}

bool Verification::numerics(Precision precision) {
  if (encodes(options.plan.programs))
    return encoding(precision);
  return options.plan.programs == ProgramSet::Generate ? generation(precision)
                                                       : training(precision);
}

int Verification::report() const {
  const Verdict *failed = nullptr;
  for (const Verdict &v : verdicts)
    if (!failed && !v.failure.empty())
      failed = &v;
  if (options.json) {
    llvm::json::Array checks;
    for (const Verdict &v : verdicts)
      checks.push_back(llvm::json::Object{{"check", v.check},
                                          {"what", v.what},
                                          {"ok", v.failure.empty()},
                                          {"failure", v.failure}});
    printJson(llvm::json::Object{{"ok", !failed},
                                 {"status", failed ? "failed" : "verified"},
                                 {"checks", std::move(checks)}});
    return failed ? 1 : 0;
  }
  for (const Verdict &v : verdicts)
    standardOutput() << llvm::formatv("  {0,-8} {1,-4} {2}\n", v.check,
                                      v.failure.empty() ? "ok" : "FAIL",
                                      printable(v.what));
  if (!failed) {
    standardOutput() << "OK\n";
    return 0;
  }
  standardOutput() << "FAILED: " << failed->check << ": "
                   << printableMessage(failed->failure) << "\n";
  return 1;
}

int Verification::run() {
  if (!types())
    return 1;
  if (!numerics(Precision::F64))
    return 1;
  if (options.plan.precision != Precision::F64 &&
      !numerics(options.plan.precision))
    return 1;
  return report();
}

class Verify : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  VerifyOptions options;
  PlanGroup plan{options};
};

void printJsonError(const std::string &error) {
  printJson(
      llvm::json::Object{{"ok", false}, {"status", "error"}, {"error", error}});
}

const CommandRegistration<Verify> registration(
    {110, "verify", "Check that the distributed program is the serial one",
     " examples/gpt2-tiny --mesh dp=2,tp=2", printJsonError});

} // namespace

void Verify::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::Sources);
  declareJson(app, options.json);
  plan.declare(app);
  plan.declareRanks(app);
  plan.declarePlanFile(app);
}

/// Refuses programs whose numbers cannot be compared.
void Verify::check(CLI::App &app) {
  plan.read(app);
  requireOneProcess(app);
  plan.checkRules(plan.given());
  if (options.plan.optimizer.kind == OptimizerKind::Lion)
    refuse("verify cannot compare steps of --optimizer lion: the sign of a "
           "momentum that is 0 but for rounding may be either; verify the same "
           "plan with --optimizer sgd, which differs in the update alone");
  if (options.plan.programs == ProgramSet::TrainAndGenerate)
    refuse("verify compares either a training step or programs that continue "
           "texts with what they are made of; give --programs train, and then "
           "--programs generate");
  if (options.isArtifact())
    refuse("'" + options.model +
           "' is compiled: verify compares a model's serial and parallel "
           "programs, which it compiles itself; give the config.json or .mlir "
           "that it was made from, with the options of its compilation");
  plan.completeRate();
}

int Verify::run() {
  if (std::string why = firstOf({findModel(options, ModelKinds::Sources),
                                 deviceProblem(options.plan)});
      !why.empty())
    return printError(why);
  bool trains = options.plan.programs == ProgramSet::Train;
  if (trains && !chooseRecompute(options))
    return 1;
  return Verification(options).run();
}
