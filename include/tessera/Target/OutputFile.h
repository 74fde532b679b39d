//===- OutputFile.h - files that commands write -----------------*- C++ -*-===//
#ifndef TESSERA_TARGET_OUTPUTFILE_H
#define TESSERA_TARGET_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace tessera {

/// Writes `parts`, one after the other. A regular file is complete or as it was
/// before: it is written beside, synced and renamed, where links lead to.
/// Devices and pipes are written to and never replaced. What killed writers
/// left beside the file is removed.
std::error_code writeOutput(llvm::StringRef path,
                            llvm::ArrayRef<llvm::StringRef> parts);

} // namespace tessera

#endif // TESSERA_TARGET_OUTPUTFILE_H
