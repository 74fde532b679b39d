//===- Import.cpp - tessera import ----------------------------------------===//

#include "tessera/Import/Import.h"
#include "Commands.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

int tessera::runImport(const DriverOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  std::string element = options.precision == "f64" ? "f64" : "f32";
  auto module = importModel(
      &context, options.model,
      {options.sequence, options.batch, options.microBatches, element});
  if (failed(module))
    return 1;
  std::string error;
  auto file =
      openOutputFile(options.output.empty() ? "-" : options.output, &error);
  if (!file) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  OpPrintingFlags flags;
  (*module)->print(file->os(), flags.enableDebugInfo(!options.output.empty()));
  file->os() << "\n";
  file->keep();
  return 0;
}
