//===- StreamedOutput.h - a file that is written piece by piece -*- C++ -*-===//
// It serves results that do not fit into memory. writeOutput writes the others.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TARGET_STREAMEDOUTPUT_H
#define TESSERA_TARGET_STREAMEDOUTPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace tessera {

/// A regular file is complete or as it was before: it is written beside, and
/// `commit` renames it. Without a commit, what was written is removed. Devices
/// and pipes are written to at once.
class StreamedOutput {
public:
  StreamedOutput();
  StreamedOutput(StreamedOutput &&);
  ~StreamedOutput();

  std::error_code open(llvm::StringRef path);
  /// Keeps bytes in memory until they fill a block.
  std::error_code append(llvm::StringRef bytes);
  /// Writes over bytes that were appended. The file must be a regular one.
  std::error_code overwrite(uint64_t offset, llvm::StringRef bytes);
  /// Reads bytes that were appended. The file must be a regular one.
  std::error_code read(uint64_t offset, llvm::MutableArrayRef<char> bytes);
  /// Writes out what is in memory.
  std::error_code flush();
  /// Returns the path of a regular file before the commit.
  std::string temporaryPath() const;

  /// Syncs all files, then renames them. If that fails, also returns the path
  /// that could not be written.
  static std::pair<std::error_code, std::string>
  commit(llvm::ArrayRef<StreamedOutput *> files);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tessera

#endif // TESSERA_TARGET_STREAMEDOUTPUT_H
