//===- Verify.cpp - tessera verify ----------------------------------------===//

#include "tessera/Verify/Verify.h"
#include "tessera/Text/Table.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace {

void printVerdicts(const std::vector<Verdict> &verdicts) {
  for (const Verdict &v : verdicts)
    standardOutput() << llvm::formatv("  {0,-8} {1,-4} {2}\n", v.check,
                                      v.failure.empty() ? "ok" : "FAIL",
                                      printable(v.what));
  const Verdict *failed = firstFailure(verdicts);
  if (failed)
    standardOutput() << "FAILED: " << failed->check << ": "
                     << printableMessage(failed->failure) << "\n";
  else
    standardOutput() << "OK\n";
}

class Verify : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override;
  int run() override;

private:
  PlannedModel options;
  bool json = false;
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
  declareJson(app, json);
  plan.declare(app);
  plan.declareRanks(app);
  plan.declarePlanFile(app);
}

void Verify::check(CLI::App &app) {
  plan.read(app);
  requireOneProcess(app);
  plan.checkRules(plan.given());
  if (std::string why = refuseVerification(options); !why.empty())
    refuse(why);
  plan.completeRate();
}

int Verify::run() {
  if (std::string why = findModel(options, ModelKinds::Sources); !why.empty())
    return printError(why);
  CompilerContext compiler;
  mlir::FailureOr<std::vector<Verdict>> verdicts =
      verifyModel(compiler.context, options);
  if (failed(verdicts))
    return 1;
  if (json)
    printJson(verdictsJson(*verdicts));
  else
    printVerdicts(*verdicts);
  return firstFailure(*verdicts) ? 1 : 0;
}
