//===- CompilerContext.h - an MLIR context that prints its diagnostics ----===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_COMPILERCONTEXT_H
#define TESSERA_TOOLS_TESSERA_INPUT_COMPILERCONTEXT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

namespace tessera {

/// It has the compiler's dialects. Diagnostics go to standard error as
/// "file:line:column: error: ..." with the line, or as "error: ..." where there
/// is no file.
class CompilerContext {
public:
  CompilerContext();

  mlir::MLIRContext context;

private:
  void print(mlir::Diagnostic &diagnostic);
  void print(mlir::Location location, const std::string &message,
             mlir::DiagnosticSeverity severity, bool showsLine);
  bool mayShow(mlir::FileLineColLoc location) const;

  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler located;
  mlir::ScopedDiagnosticHandler printed, noted;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_COMPILERCONTEXT_H
