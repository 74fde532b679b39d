//===- Compile.cpp - tessera compile --------------------------------------===//

#include "ArtifactFile.h"
#include "Commands.h"
#include "CompilerContext.h"
#include "PlanOptions.h"
#include "Report.h"
#include "tessera/Import/Import.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace tessera;

bool tessera::compileModel(const DriverOptions &options,
                           const std::string &path) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  CompilerContext compiler(registry);
  std::string element = options.precision == "f64" ? "f64" : "f32";
  auto module =
      importModel(&compiler.context, options.model,
                  {options.sequence, options.batch, options.microBatches,
                   element, options.targetSequence});
  if (failed(module))
    return false;
  return succeeded(
      compileToArtifact(**module, planOptions(options, **module), path));
}

int tessera::runCompile(const DriverOptions &options) {
  if (options.isArtifact())
    return printError("'" + options.model + "' is compiled already");
  std::string output = options.output.empty() ? "model.tsr" : options.output;
  auto start = std::chrono::steady_clock::now();
  if (!compileModel(options, output))
    return 1;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  ArtifactFile artifact;
  Report report;
  if (!artifact.load(output) || !report.read(artifact.metadata()))
    return 1;
  llvm::outs() << "wrote " << output << ": " << report.headline() << " ("
               << llvm::formatv("{0:f1}", seconds.count()) << " s)\n";
  return 0;
}
