//===- CompileModel.cpp - from a model to an artifact ---------------------===//

#include "tools/tessera/input/CompileModel.h"
#include "tessera/Import/Import.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/options/PlanOptions.h"

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
