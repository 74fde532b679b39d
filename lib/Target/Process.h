//===- Process.h - other programs, and the files between --------*- C++ -*-===//
#ifndef TESSERA_LIB_TARGET_PROCESS_H
#define TESSERA_LIB_TARGET_PROCESS_H

#include "lib/Target/CpuTarget.h"
#include "tessera/Target/TemporaryFile.h"

namespace tessera {

mlir::LogicalResult create(TemporaryFile &file, llvm::StringRef suffix,
                           EmitError emitError);

mlir::LogicalResult writeFile(llvm::StringRef path, llvm::StringRef bytes,
                              EmitError emitError);
mlir::FailureOr<llvm::SmallVector<char>> readFile(llvm::StringRef path,
                                                  EmitError emitError);

/// Runs arguments[0]. The error says what failed ("linking"), the exit code and
/// what the program printed.
mlir::LogicalResult runProgram(llvm::ArrayRef<std::string> arguments,
                               llvm::StringRef what, EmitError emitError);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_PROCESS_H
