//===- CompilerContext.cpp - an MLIR context that prints its diagnostics --===//

#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/report/PrintError.h"
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

/// Remembers "file:line:column: message" and notes, for --json.
static LogicalResult remember(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
           << file.getColumn() << ": ";
  stream << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    stream << "; note: " << note.str();
  noteError(text);
  return failure(); // the next handler prints it
}

CompilerContext::CompilerContext() : CompilerContext(DialectRegistry()) {}

CompilerContext::CompilerContext(const DialectRegistry &registry)
    : context(registry, MLIRContext::Threading::ENABLED),
      located(sources, &context, llvm::errs()),
      unlocated(&context, printUnlocated), noted(&context, remember) {
  // A whole module after an error helps nobody; --dump-ir shows it.
  context.printOpOnDiagnostic(false);
}
