//===- AbstractArena.h - who wrote which byte last --------------*- C++ -*-===//
// The memory of the memory checker: disjoint byte ranges, each with the number
// of what was written there. Content 0 is "nothing yet".
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_ABSTRACTARENA_H
#define TESSERA_LIB_MEMORY_ABSTRACTARENA_H

#include "mlir/IR/Operation.h"
#include <map>
#include <string>

namespace tessera::rt {

struct ByteRange {
  int64_t begin = 0, end = 0;

  bool operator==(ByteRange other) const {
    return begin == other.begin && end == other.end;
  }
  bool overlaps(ByteRange other) const {
    return begin < other.end && other.begin < end;
  }
  std::string str() const {
    return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
  }
};

class AbstractArena {
public:
  struct Entry {
    ByteRange bytes;
    int64_t content = 0;
    mlir::Operation *writer = nullptr; ///< Null: never written.
  };

  /// `bytes` is not empty.
  void write(ByteRange bytes, int64_t content, mlir::Operation *writer);
  /// Returns the first range inside `bytes` that holds something else, or null.
  const Entry *findOther(ByteRange bytes, int64_t content);

private:
  std::map<int64_t, Entry> entries; ///< Keyed by their begin.
  /// The unwritten bytes that findOther found.
  Entry hole;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_ABSTRACTARENA_H
