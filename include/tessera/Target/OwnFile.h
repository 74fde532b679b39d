//===- OwnFile.h - files where others may write, too ------------*- C++ -*-===//
// Others may foresee the names that we choose, and guess those that users give.
// No link is followed to the former, and none of another user to the latter.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TARGET_OWNFILE_H
#define TESSERA_TARGET_OWNFILE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace tessera {

/// Opens a file of a directory to write it anew. A link, and a file with other
/// names, is replaced by a new file; what it led to stays as it is.
std::error_code openOwnFile(llvm::StringRef path, int &descriptor);

/// Makes a file that stays, as "/tmp/PREFIX-q3fE1a/NAME": in a new directory,
/// both of which are open to this user alone.
std::error_code createKeptFile(llvm::StringRef prefix, llvm::StringRef name,
                               int &descriptor,
                               llvm::SmallVectorImpl<char> &path);

/// Returns why a file that a user named must not be written: in a directory
/// like /tmp, it or what it leads to is a link or a pipe of another user.
std::error_code refusePlanted(llvm::StringRef path);

} // namespace tessera

#endif // TESSERA_TARGET_OWNFILE_H
