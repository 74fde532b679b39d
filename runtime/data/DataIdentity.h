//===- DataIdentity.h - what a run was trained on ---------------*- C++ -*-===//
// The identity of data tells a run that goes on if it would read other tokens
// than before. A file is known by its tokens, whatever its name, place and
// format.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_DATAIDENTITY_H
#define TESSERA_RUNTIME_DATA_DATAIDENTITY_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

struct DataIdentity {
  struct File {
    std::string name;       ///< Without its directory; for people.
    int64_t tokens;         ///< Tokens in the whole file.
    std::string sampleHash; ///< Hash of the first and the last tokens.
    /// Part of the sum of all shares; 0 if there are no weights.
    int64_t share;
    int64_t first, count; ///< The tokens that are read.
    /// Is the hash of all of them; "": it was not computed, or an older version
    /// wrote the checkpoint. The other fields then tell two files apart.
    std::string contentHash = {};
  };
  std::vector<File> files;

  /// Describes the differences for people, with both values; "" if there are
  /// none.
  std::string differenceFrom(const DataIdentity &other) const;
  /// Returns whether the hash of any file's content is known.
  bool hasContents() const;
  /// Takes the hashes of the files' contents, in the order of the files.
  void setContents(const std::vector<std::string> &hashes);
};

/// Fails with TSR_MISMATCH if `now` is other data than what a run was trained
/// on before.
void checkSameData(const DataIdentity &now, const DataIdentity &before);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATAIDENTITY_H
