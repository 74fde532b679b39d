//===- Import.cpp - tessera import ----------------------------------------===//

#include "tessera/Import/Import.h"
#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

namespace {

class Import : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override { plan.check(app); }
  int run() override;

private:
  PlannedModel options;
  PlanGroup plan{options};
  std::string output; ///< "" or "-": standard output.
};

const CommandRegistration<Import>
    registration({20, "import", "Import a model as a serial nn program",
                  " examples/gpt2-tiny -o model.mlir"});

} // namespace

void Import::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::Sources);
  declareOutput(app, "mlir", "Output file (default: standard output)", output);
  plan.declareImport(app);
  // Nothing else of that group can be said of a serial program.
  beginGroup(app, "Precision and memory", "--precision f64");
}

int Import::run() {
  if (std::string why = firstOf({findModel(options, ModelKinds::Sources),
                                 checkOutput(output, "model.mlir")});
      !why.empty())
    return printError(why);
  if (options.plan.precision == Precision::BF16)
    return printError("a serial program is imported in f32 or f64; give "
                      "--precision bf16 to tessera compile");
  CompilerContext compiler;
  auto module = importModel(&compiler.context, options.model,
                            importOptions(options, Choices::Said));
  if (failed(module))
    return 1;
  bool toFile = !output.empty() && output != "-";
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Locations make a terminal unreadable; a file keeps them for later errors.
  (*module)->print(stream, OpPrintingFlags().enableDebugInfo(toFile));
  stream << "\n";
  if (toFile)
    return printIfError(writeFile(output, {text}));
  standardOutput() << text;
  return 0;
}
