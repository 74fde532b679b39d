//===- DataIdentity.h - what a run was trained on ---------------*- C++ -*-===//
// By it a run that goes on notices that it would read other tokens than before.
// A file is known by its tokens, whatever its name, place and format.
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
    int64_t tokens;         ///< Of the whole file.
    std::string sampleHash; ///< Of the first and the last of them.
    int64_t share;          ///< Of all shares; 0 if there are no weights.
    int64_t first, count;   ///< The tokens that are read.
    /// Is the hash of all of them; "": it was not computed, or an older version
    /// wrote the checkpoint. The other fields then tell two files apart.
    std::string contentHash = {};
  };
  std::vector<File> files;

  /// What differs, for people, with both values; "" if nothing does.
  std::string differenceFrom(const DataIdentity &other) const;
  /// Returns whether the hash of any file's content is known.
  bool hasContents() const;
  /// Takes the hashes of the files' contents, in the order of the files.
  void setContents(const std::vector<std::string> &hashes);
};

/// TSR_MISMATCH: `now` is other data than what a run was trained on before.
void checkSameData(const DataIdentity &now, const DataIdentity &before);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATAIDENTITY_H
