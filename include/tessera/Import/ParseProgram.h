//===- ParseProgram.h - what of a .mlir text may be parsed ------*- C++ -*-===//
// MLIR's parser, and what reads types and attributes after it, call themselves
// for everything that is nested. So texts that nest deeply are refused before.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IMPORT_PARSEPROGRAM_H
#define TESSERA_IMPORT_PARSEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tessera {

/// Brackets in brackets, through the names of types and attributes too.
inline constexpr int64_t kDeepestProgram = 256;
/// Bytes of a program's text, and of one affine expression in it.
inline constexpr size_t kLongestProgram = size_t(256) << 20;
inline constexpr size_t kLongestAffine = 4096;

/// Returns why a text is not parsed, with its line; "" if it may be.
std::string refusalOf(llvm::StringRef text);

/// Reads a text that may be parsed, of a regular file or an open descriptor.
/// The error names the file: "'a.mlir' is bytecode of MLIR; give ..".
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readProgramText(llvm::StringRef path);

/// Reads and verifies the program of a file. All errors are diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(mlir::MLIRContext *context,
                                              llvm::StringRef path);

} // namespace tessera

#endif // TESSERA_IMPORT_PARSEPROGRAM_H
