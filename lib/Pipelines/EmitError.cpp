//===- EmitError.cpp - errors without a location --------------------------===//

#include "tessera/Pipelines/EmitError.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace tessera;

std::string tessera::errorText(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
           << file.getColumn() << ": ";
  stream << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    stream << "; note: " << note.str();
  return text;
}

LogicalResult tessera::emitFailure(MLIRContext &context,
                                   const std::string &message) {
  return emitError(UnknownLoc::get(&context)) << message;
}

LogicalResult tessera::emitFailure(MLIRContext &context, llvm::Error error) {
  return emitFailure(context, llvm::toString(std::move(error)));
}
