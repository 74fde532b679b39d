//===- ReadText.h - a file from outside as a text ---------------*- C++ -*-===//

#ifndef TESSERA_JSON_READTEXT_H
#define TESSERA_JSON_READTEXT_H

#include "tessera/json_limits.hpp"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tessera {

/// Returns a copy of a regular file of at most `most` bytes, which is `what` in
/// errors: "cannot read 'a.json': No such file or directory". (A mapped file
/// that somebody cuts would end the process.) A pipe or a device is refused, as
/// it may have no end, unless it is an open descriptor of the process, such as
/// /dev/stdin.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readText(const llvm::Twine &path, uint64_t most, llvm::StringRef what);

/// Returns the text of a file that is to be parsed within `limits`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readText(const llvm::Twine &path, const JsonLimits &limits);

} // namespace tessera

#endif // TESSERA_JSON_READTEXT_H
