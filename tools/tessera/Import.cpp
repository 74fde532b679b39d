//===- Import.cpp - tessera import ----------------------------------------===//

#include "tessera/Import/Import.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/CompileModel.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int tessera::runImport(const DriverOptions &options) {
  if (options.isArtifact())
    return printError("'" + options.model +
                      "' is compiled already; give the config.json that it was "
                      "made of");
  if (options.plan.precision == Precision::BF16)
    return printError("a serial program is imported in f32 or f64; give "
                      "--precision bf16 to tessera compile");
  CompilerContext compiler;
  auto module = importModel(&compiler.context, options.model,
                            importOptions(options, Choices::Said));
  if (failed(module))
    return 1;
  bool toFile = !options.output.empty() && options.output != "-";
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Locations make a terminal unreadable; a file keeps them for later errors.
  (*module)->print(stream, OpPrintingFlags().enableDebugInfo(toFile));
  stream << "\n";
  if (!toFile)
    standardOutput() << text;
  else if (std::error_code error = writeOutput(options.output, {text}))
    return printError("cannot write '" + options.output +
                      "': " + error.message());
  return 0;
}
