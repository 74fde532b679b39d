//===- NewFile.h - a file that is written beside its path -------*- C++ -*-===//
// It replaces what is there by a rename once it is complete. Leftovers of
// writers that were killed are removed by the next one.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_TARGET_NEWFILE_H
#define TESSERA_LIB_TARGET_NEWFILE_H

#include "lib/Target/HeldFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera {

/// Returns the code in errno.
std::error_code lastError();

/// Writes all bytes, from the file's position on.
std::error_code writeBytes(int file, llvm::StringRef bytes);

/// Devices and pipes have nothing to sync, which is no error.
std::error_code syncFile(int file);

/// Says where the links of a path lead, and how it is written.
struct Destination {
  llvm::SmallString<128> path;
  bool isReplaced = true; ///< Devices and pipes are written into.
};

std::error_code findDestination(llvm::StringRef path, Destination &found);

/// Opens a device or a pipe to write into it.
std::error_code openInto(llvm::StringRef path, HeldFile &file);

/// A file that is written beside its path, and removed unless it is renamed.
class NewFile {
public:
  NewFile() = default;
  NewFile(NewFile &&) = default;
  ~NewFile();

  /// Makes the file, empty, and removes leftovers of others.
  std::error_code open(llvm::StringRef path);
  int descriptor() const { return file.descriptor(); }
  std::string path() const { return target.str().str(); }
  /// Returns the path of the file before it is renamed.
  std::string temporaryPath() const { return temporary.str().str(); }
  std::error_code rename();

private:
  HeldFile file;
  llvm::SmallString<128> target, temporary;
};

} // namespace tessera

#endif // TESSERA_LIB_TARGET_NEWFILE_H
