//===- TokenFile.h - the tokens of one file ---------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DATA_TOKENFILE_H
#define TESSERA_RUNTIME_DATA_TOKENFILE_H

#include "runtime/data/TokenFormat.h"
#include "runtime/support/ContentHash.h"

#include <atomic>
#include <vector>

namespace tessera {

class TokenFile {
public:
  /// Reads the whole file once: TSR_INVALID_ARGUMENT names the first token
  /// outside of the vocabulary, which no step then meets. TSR_NOT_FOUND,
  /// TSR_IO, TSR_CORRUPT.
  TokenFile(const std::string &path, const std::string &format,
            int64_t vocabulary);

  int64_t count() const { return format.count; }
  /// Returns the path of the tokens: the .bin file if the .idx file was named.
  const std::string &path() const { return file.path(); }
  /// Returns the index that says where documents begin, or null if the file has
  /// none.
  const MegatronIndex *index() const { return format.index.get(); }
  /// Returns the bytes of a token.
  int64_t width() const { return format.width; }
  /// Hash of the first and the last tokens, whatever their width in the file.
  uint64_t sampleHash() const { return hashOfSample; }
  /// Hashes all tokens by hashOfBlocks, whatever their width in the file; those
  /// outside of the vocabulary are no error here. TSR_IO; TSR_ABORTED once
  /// `stops`.
  uint64_t contentHash(HashThreads threads,
                       const std::atomic<bool> &stops) const;
  /// Tokens [position, position + count). TSR_INVALID_ARGUMENT: the file was
  /// changed, and one is outside of the vocabulary now.
  void read(int64_t position, int64_t count, int32_t *out) const;

private:
  uint64_t hashSample() const;
  void checkTokens() const;
  void checkAllTokens() const;
  bool areLegal(int64_t position, int64_t count,
                std::vector<char> &bytes) const;
  int64_t decode(const char *bytes) const;
  void refuseAmong(const char *bytes, int64_t first, int64_t count) const;
  [[noreturn]] void refuse(int64_t position, int64_t token) const;

  InputFile file;
  TokenFormat format;
  int64_t vocabulary;
  uint64_t hashOfSample = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_TOKENFILE_H
