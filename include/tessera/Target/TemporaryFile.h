//===- TemporaryFile.h - files between two programs -------------*- C++ -*-===//
#ifndef TESSERA_TARGET_TEMPORARYFILE_H
#define TESSERA_TARGET_TEMPORARYFILE_H

#include "llvm/ADT/SmallString.h"
#include <memory>
#include <string>
#include <system_error>

namespace tessera {

class ScratchDirectory;

/// A name for a temporary file that is removed when this goes out of scope. It
/// lies in a directory of this process, which the next process removes if this
/// one is killed.
class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();

  /// Makes the file, empty.
  std::error_code create(llvm::StringRef suffix);

  llvm::SmallString<128> path;

private:
  std::shared_ptr<ScratchDirectory> directory;
};

/// Returns the text of an error of TemporaryFile::create, with the directory
/// and a remedy.
std::string describeTemporary(std::error_code error);

} // namespace tessera

#endif // TESSERA_TARGET_TEMPORARYFILE_H
