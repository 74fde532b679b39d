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
  };
  std::vector<File> files;

  /// What differs, for people, with both values; "" if nothing does.
  std::string differenceFrom(const DataIdentity &other) const;
  uint64_t hash() const;
};

/// TSR_MISMATCH: `now` is other data than what a run was trained on before.
void checkSameData(const DataIdentity &now, const DataIdentity &before);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATAIDENTITY_H
