//===- CompilerContext.cpp - an MLIR context that prints its diagnostics --===//

#include "tools/tessera/input/CompilerContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

static LogicalResult printUnlocated(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  bool isRemark = diagnostic.getSeverity() == DiagnosticSeverity::Remark;
  if (!isa<UnknownLoc>(diagnostic.getLocation()) || !(isError || isRemark))
    return failure(); // the next handler prints it
  llvm::errs() << (isError ? "error: " : "note: ") << diagnostic.str() << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    llvm::errs() << "note: " << note.str() << "\n";
  return success();
}

CompilerContext::CompilerContext() : CompilerContext(DialectRegistry()) {}

CompilerContext::CompilerContext(const DialectRegistry &registry)
    : context(registry, MLIRContext::Threading::ENABLED),
      located(sources, &context, llvm::errs()),
      unlocated(&context, printUnlocated) {
  // A whole module after an error helps nobody; --dump-ir shows it.
  context.printOpOnDiagnostic(false);
}
