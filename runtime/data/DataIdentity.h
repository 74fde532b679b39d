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
    /// Of all of them; "": nobody has hashed them, or an older version has
    /// written the checkpoint. Two files are then told apart by the rest.
    std::string contentHash = {};
  };
  std::vector<File> files;

  /// What differs, for people, with both values; "" if nothing does.
  std::string differenceFrom(const DataIdentity &other) const;
  /// Whether the content of a file is known.
  bool hasContents() const;
  /// `hashes` of the files in their order.
  void setContents(const std::vector<std::string> &hashes);
};

/// TSR_MISMATCH: `now` is other data than what a run was trained on before.
void checkSameData(const DataIdentity &now, const DataIdentity &before);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATAIDENTITY_H
