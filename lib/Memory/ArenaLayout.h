//===- ArenaLayout.h - offsets of buffers in one arena ----------*- C++ -*-===//
// Greedy by size over intervals of positions (Pisarchyk and Lee 2020): larger
// buffers first, each into the tightest gap that its neighbours in time leave.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_ARENALAYOUT_H
#define TESSERA_LIB_MEMORY_ARENALAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tessera::rt {

/// A buffer that is needed from position `begin` to `end`, both included.
struct Extent {
  int64_t bytes = 0, begin = 0, end = 0;
  int64_t offset = 0; ///< The result.
};

/// Assigns offsets; extents that share a position get disjoint ranges. Returns
/// the bytes in use. What is `fixed` has its offset; without bytes it is a
/// border that no extent crosses.
int64_t assignOffsets(llvm::MutableArrayRef<Extent> extents,
                      llvm::ArrayRef<Extent> fixed = {});

/// The most bytes needed at once: no layout can use less.
struct Peak {
  int64_t bytes = 0;
  int64_t position = 0;
};
Peak findPeak(llvm::ArrayRef<Extent> extents);

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_ARENALAYOUT_H
