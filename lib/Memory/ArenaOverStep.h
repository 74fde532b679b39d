//===- ArenaOverStep.h - what the arena holds, over a step ------*- C++ -*-===//
// For people who ask why a step needs so much memory: bytes by kind at moments
// of the step, and what is alive at the peak. Nothing is planned by it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_ARENAOVERSTEP_H
#define TESSERA_LIB_MEMORY_ARENAOVERSTEP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>

namespace tessera::rt {

/// Bytes that are needed from time `begin` to time `end`, both included.
struct Holding {
  int64_t begin = 0, end = 0;
  llvm::SmallVector<int64_t, 5> bytes; ///< One number for each kind.
  std::string op, name;                ///< "gemm", "h.3.mlp".
};

/// The op that runs at a time.
struct Moment {
  std::string name, phase; ///< "h.3.mlp", "backward"; "B0.3", "task".
};

struct ArenaOverStep {
  llvm::ArrayRef<llvm::StringRef> kinds;
  std::vector<Holding> holdings;
  int64_t end = 0; ///< The last time.
  int64_t peak = 0;
  std::function<Moment(int64_t)> momentAt;

  /// Writes docs/Artifact.md's `over_step`. If a step has many times, each of
  /// some hundred intervals is represented by the time that needs most.
  std::string json() const;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_ARENAOVERSTEP_H
