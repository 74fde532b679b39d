//===- Import.cpp - tessera import ----------------------------------------===//

#include "tessera/Import/Import.h"
#include "mlir/Support/FileUtilities.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

int tessera::runImport(const DriverOptions &options) {
  if (options.isArtifact())
    return printError("'" + options.model +
                      "' is compiled already; import reads a config.json");
  if (options.plan.precision == Precision::BF16)
    return printError("a serial program is imported in f32 or f64; give "
                      "--precision bf16 to tessera compile");
  CompilerContext compiler;
  auto module = importModel(&compiler.context, options.model,
                            {options.plan.sizes, options.plan.precision});
  if (failed(module))
    return 1;
  bool toFile = !options.output.empty() && options.output != "-";
  std::string error;
  auto file = openOutputFile(toFile ? options.output : "-", &error);
  if (!file)
    return printError(error);
  // Locations make a terminal unreadable; a file keeps them for later errors.
  (*module)->print(file->os(), OpPrintingFlags().enableDebugInfo(toFile));
  file->os() << "\n";
  file->os().flush();
  if (file->os().has_error()) {
    error = file->os().error().message();
    file->os().clear_error();
    return printError("cannot write '" + options.output + "': " + error);
  }
  file->keep();
  return 0;
}
