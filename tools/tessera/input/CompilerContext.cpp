//===- CompilerContext.cpp - an MLIR context that prints its diagnostics --===//

#include "tools/tessera/input/CompilerContext.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/EmitError.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace tessera;

// Longer lines of a source, such as a config without line breaks, are cut.
static constexpr size_t kShownColumns = 120;
// Larger files that a location names are not opened.
static constexpr uint64_t kLargestSource = 64 << 20;

static StringRef severityName(llvm::SourceMgr::DiagKind kind) {
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

static StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  llvm_unreachable("every severity is handled");
}

/// Prints a message with the line of the file that it is about, or with the
/// part of a long line around the column. The file may be a stranger's.
static void printSourceLine(const llvm::SMDiagnostic &diagnostic, void *) {
  StringRef line = diagnostic.getLineContents();
  auto column =
      std::min<size_t>(std::max(diagnostic.getColumnNo(), 0), line.size());
  size_t begin = 0;
  StringRef before, after;
  if (line.size() > kShownColumns) {
    begin = column - std::min(column, kShownColumns / 2);
    before = begin > 0 ? "..." : "";
    after = begin + kShownColumns < line.size() ? "..." : "";
  }
  StringRef shown = line.substr(begin, kShownColumns);
  auto untabbed = [](StringRef text) {
    std::string result;
    for (char c : text)
      result += c == '\t' ? ' ' : c;
    return printable(result);
  };
  std::string indent =
      before.str() + untabbed(shown.take_front(column - begin));
  standardError() << printable(diagnostic.getFilename()) << ":"
                  << diagnostic.getLineNo() << ":" << column + 1 << ": "
                  << severityName(diagnostic.getKind()) << ": "
                  << diagnostic.getMessage() << "\n"
                  << indent << untabbed(shown.drop_front(column - begin))
                  << after << "\n";
  standardError().indent(indent.size()) << "^\n";
}

/// Remembers "file:line:column: message" and notes, for --json.
static LogicalResult remember(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  noteError(errorText(diagnostic));
  return failure(); // the next handler prints it
}

/// Returns whether the line of a location can be shown. A program may name any
/// file as its source, and reading a device or a pipe may never end.
bool CompilerContext::mayShow(FileLineColLoc location) const {
  StringRef name = location.getFilename();
  for (unsigned id = 1; id <= sources.getNumBuffers(); ++id)
    if (sources.getMemoryBuffer(id)->getBufferIdentifier() == name)
      return true;
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(name, status) &&
         llvm::sys::fs::is_regular_file(status) &&
         status.getSize() <= kLargestSource;
}

void CompilerContext::print(Location location, const std::string &message,
                            DiagnosticSeverity severity, bool showsLine) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  std::string text = printableMessage(message);
  if (file && showsLine && mayShow(file))
    return located.emitDiagnostic(location, text, severity);
  if (file)
    standardError() << printableValue(file.getFilename().getValue()) << ":"
                    << file.getLine() << ":" << file.getColumn() << ": ";
  bool isAdvice = !file && severity == DiagnosticSeverity::Remark;
  standardError() << (isAdvice ? "note" : severityName(severity)) << ": "
                  << text << "\n";
}

void CompilerContext::print(Diagnostic &diagnostic) {
  Location location = diagnostic.getLocation();
  print(location, diagnostic.str(), diagnostic.getSeverity(), true);
  for (Diagnostic &note : diagnostic.getNotes())
    print(note.getLocation(), note.str(), note.getSeverity(),
          note.getLocation() != location);
}

static DialectRegistry compilerDialects() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

CompilerContext::CompilerContext()
    : context(compilerDialects(), MLIRContext::Threading::ENABLED),
      located(sources, &context, standardError()),
      printed(&context, [this](Diagnostic &diagnostic) { print(diagnostic); }),
      noted(&context, remember) {
  sources.setDiagHandler(printSourceLine);
  // A whole module after an error helps nobody; --dump-ir shows it.
  context.printOpOnDiagnostic(false);
}
