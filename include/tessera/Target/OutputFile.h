//===- OutputFile.h - files that commands write -----------------*- C++ -*-===//
#ifndef TESSERA_TARGET_OUTPUTFILE_H
#define TESSERA_TARGET_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <system_error>
#include <utility>

namespace tessera {

/// Writes `parts`, one after the other. A regular file is complete or as it was
/// before: it is written beside, synced and renamed, where links lead to.
/// Devices and pipes are written to and never replaced. What killed writers
/// left beside the file is removed.
std::error_code writeOutput(llvm::StringRef path,
                            llvm::ArrayRef<llvm::StringRef> parts);

/// Writes like writeOutput. The error names the path.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::ArrayRef<llvm::StringRef> parts);

/// A file to write, and what it holds.
struct OutputFile {
  std::string path;
  llvm::SmallVector<llvm::StringRef> parts;
};

/// Writes files that belong together, as writeOutput does: none is replaced
/// before all are written beside. Returns the path that could not be written as
/// well.
std::pair<std::error_code, std::string>
writeOutputs(llvm::ArrayRef<OutputFile> files);

} // namespace tessera

#endif // TESSERA_TARGET_OUTPUTFILE_H
