//===- WriteArtifact.h - writes a `.tsr` file -------------------*- C++ -*-===//
// The container of abi.h: header, metadata (JSON), code (ELF shared object).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TARGET_WRITEARTIFACT_H
#define TESSERA_TARGET_WRITEARTIFACT_H

#include "lib/Target/CpuTarget.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera {

/// Writes an artifact as writeOutput does: `path` is complete or as it was
/// before.
mlir::LogicalResult writeArtifact(llvm::StringRef path,
                                  llvm::StringRef metadataJson,
                                  llvm::ArrayRef<char> code,
                                  EmitError emitError);

} // namespace tessera

#endif // TESSERA_TARGET_WRITEARTIFACT_H
