//===- Verify.cpp - tessera verify ----------------------------------------===//
// Is the parallel program the serial one? By types, by erasure, by numbers.
//===----------------------------------------------------------------------===//

#include "tessera/Target/TemporaryFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include "tools/tessera/verify/VerifyNumerics.h"
#include "tools/tessera/verify/VerifyPrograms.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace {

/// One line of the table.
struct Verdict {
  std::string check, what, failure;
};

class Verification {
public:
  explicit Verification(const DriverOptions &options) : options(options) {}
  int run();

private:
  bool types();
  bool numerics(Precision precision);
  int report() const;

  const DriverOptions &options;
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
  return true;
}

/// Prints why not.
bool create(TemporaryFile &file) {
  if (std::error_code error = file.create("tsr"))
    return !printError("cannot create a temporary file: " + error.message());
  return true;
}

bool Verification::numerics(Precision precision) {
  TemporaryFile serial, parallel;
  if (!create(serial) || !create(parallel))
    return false;
  // The same sequences for both: the serial program takes the mesh's batch.
  if (!compileShrunk(options, precision, parallel.path.str().str(),
                     Side::Parallel) ||
      !compileShrunk(options, precision, serial.path.str().str(), Side::Serial))
    return false;
  NumericCheck check;
  if (!compareRuns(serial.path.str().str(), parallel.path.str().str(),
                   precision, check))
    return false;
  if (check.messages && precision == Precision::F64)
    verdicts.push_back(
        {"messages",
         llvm::formatv("{0} sends, receives and barriers of stages end, though "
                       "nothing is buffered",
                       check.messages),
         ""});
  verdicts.push_back(
      {nameOf(precision),
       llvm::formatv(
           "{0} values over {1} steps, largest difference {2:e1} ({3}){4}",
           check.values, check.steps, check.worst, check.worstName,
           options.isProgram() ? "; at full size: only a config can be shrunk"
                               : ""),
       check.difference});
  return true;
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
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"ok", !failed}, {"checks", std::move(checks)}})
                 << "\n";
    return failed ? 1 : 0;
  }
  for (const Verdict &v : verdicts)
    llvm::outs() << llvm::formatv("  {0,-8} {1,-4} {2}\n", v.check,
                                  v.failure.empty() ? "ok" : "FAIL", v.what);
  if (!failed) {
    llvm::outs() << "OK\n";
    return 0;
  }
  llvm::outs() << "FAILED: " << failed->check << ": " << failed->failure
               << "\n";
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

} // namespace

int tessera::runVerify(const DriverOptions &options) {
  if (options.isArtifact())
    return printError("'" + options.model +
                      "' is compiled: verify takes the model it was made from");
  DriverOptions chosen = options;
  if (!chooseRecompute(chosen))
    return 1;
  return Verification(chosen).run();
}
