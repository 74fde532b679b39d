//===- EmitError.h - errors without a location ------------------*- C++ -*-===//

#ifndef TESSERA_PIPELINES_EMITERROR_H
#define TESSERA_PIPELINES_EMITERROR_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tessera {

/// Returns a diagnostic as one text: "file:line:column: message; note: ...".
std::string errorText(mlir::Diagnostic &diagnostic);

/// Emits an error of the context that is about no line of a file.
mlir::LogicalResult emitFailure(mlir::MLIRContext &context,
                                const std::string &message);
mlir::LogicalResult emitFailure(mlir::MLIRContext &context, llvm::Error error);

} // namespace tessera

#endif // TESSERA_PIPELINES_EMITERROR_H
