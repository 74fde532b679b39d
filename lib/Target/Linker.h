//===- Linker.h - object code to a shared object ----------------*- C++ -*-===//
// Runs ld.lld on temporary files.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_TARGET_LINKER_H
#define TESSERA_LIB_TARGET_LINKER_H

#include "tessera/Target/CpuTarget.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera {

/// `linker` may be empty: then ld.lld of LLVM 22, else of the PATH. Symbols of
/// neither the objects nor libc or libm are an error.
mlir::FailureOr<llvm::SmallVector<char>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char>> objects,
                 llvm::StringRef linker, EmitError emitError);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_LINKER_H
