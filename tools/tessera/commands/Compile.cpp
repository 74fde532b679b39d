//===- Compile.cpp - tessera compile --------------------------------------===//

#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Report/Report.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace tessera;

namespace {

class Compile : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override { plan.check(app); }
  int run() override;

private:
  PlannedModel options;
  PlanGroup plan{options};
  std::string output;
};

const CommandRegistration<Compile>
    registration({30, "compile", "Compile a model into a .tsr file",
                  " examples/gpt2-tiny --mesh dp=2,tp=2 -o model.tsr"});

} // namespace

void Compile::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::Sources);
  declareOutput(app, "tsr", "Output file (default: model.tsr)", output);
  plan.declare(app);
  plan.declareRanks(app);
  plan.declarePlanFile(app);
}

int Compile::run() {
  if (std::string why = firstOf({findModel(options, ModelKinds::Sources),
                                 checkOutput(output, "model.tsr")});
      !why.empty())
    return printError(why);
  if (output.empty())
    output = "model.tsr";
  auto start = std::chrono::steady_clock::now();
  CompilerContext compiler;
  if (failed(compileModel(compiler.context, options, output)))
    return 1;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  // A device or a pipe cannot be read again.
  if (!llvm::sys::fs::is_regular_file(output))
    return 0;
  ArtifactFile artifact;
  Report report;
  if (printIfError(artifact.load(output)) ||
      printIfError(report.readWithoutCalls(artifact.metadata())))
    return 1;
  standardOutput() << "wrote " << printable(output) << ": " << report.headline()
                   << " (" << llvm::formatv("{0:f1}", seconds.count())
                   << " s)\n";
  return 0;
}
