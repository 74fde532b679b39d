//===- ContentHash.h - what a file holds, as a number -----------*- C++ -*-===//
// A run reads files that other processes, or the same run before a restart, had
// to read alike. A hash of all that a file holds shows a difference anywhere in
// it. Several threads read a large file, so that the disk is the limit.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_CONTENTHASH_H
#define TESSERA_RUNTIME_SUPPORT_CONTENTHASH_H

#include "runtime/support/File.h"

#include <functional>

namespace tessera {

/// Says how many threads hash at the same time.
enum class HashThreads {
  One, ///< beside other work
  All  ///< while others wait for the result
};

/// XXH3-64 of the hashes of all blocks, in their order. `hashOf` is called by
/// several threads; what it throws reaches the caller.
uint64_t hashOfBlocks(int64_t blocks,
                      const std::function<uint64_t(int64_t)> &hashOf,
                      HashThreads threads);

/// XXH3-64 of the XXH3-64 of each 2^20 bytes, the last block being shorter.
/// TSR_IO.
uint64_t contentHash(const InputFile &file);

/// A file, for errors, and what it holds, for comparisons.
struct FileContent {
  std::string path;    ///< the path by which this process finds it
  std::string content; ///< size and hash, "1234 bytes (hash 0123...)"
};
/// Hashes the content of a file. TSR_NOT_FOUND, TSR_IO.
FileContent contentOf(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_CONTENTHASH_H
