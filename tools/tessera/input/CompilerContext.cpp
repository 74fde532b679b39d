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

// Longer lines of a source, such as a config without line breaks, are cut.
static constexpr size_t kShownColumns = 120;

static StringRef nameOf(llvm::SourceMgr::DiagKind kind) {
  switch (kind) {
  case llvm::SourceMgr::DK_Error:
    return "error";
  case llvm::SourceMgr::DK_Warning:
    return "warning";
  case llvm::SourceMgr::DK_Remark:
    return "remark";
  case llvm::SourceMgr::DK_Note:
    return "note";
  }
  llvm_unreachable("every kind is handled");
}

/// Of a long line only what surrounds the column is shown.
static void printSourceLine(const llvm::SMDiagnostic &diagnostic, void *) {
  StringRef line = diagnostic.getLineContents();
  if (line.size() <= kShownColumns || diagnostic.getColumnNo() < 0)
    return diagnostic.print(nullptr, llvm::errs());
  auto column = std::min<size_t>(diagnostic.getColumnNo(), line.size());
  size_t begin = column - std::min(column, kShownColumns / 2);
  StringRef before = begin > 0 ? "..." : "";
  StringRef after = begin + kShownColumns < line.size() ? "..." : "";
  llvm::errs() << diagnostic.getFilename() << ":" << diagnostic.getLineNo()
               << ":" << column + 1 << ": " << nameOf(diagnostic.getKind())
               << ": " << diagnostic.getMessage() << "\n"
               << before << line.substr(begin, kShownColumns) << after << "\n";
  llvm::errs().indent(before.size() + column - begin) << "^\n";
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
  sources.setDiagHandler(printSourceLine);
  // A whole module after an error helps nobody; --dump-ir shows it.
  context.printOpOnDiagnostic(false);
}
