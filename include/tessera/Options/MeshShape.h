//===- MeshShape.h - axes and sizes of a mesh -------------------*- C++ -*-===//

#ifndef TESSERA_OPTIONS_MESHSHAPE_H
#define TESSERA_OPTIONS_MESHSHAPE_H

#include "tessera/Options/MeshAxis.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// "dp=2,tp=4" as a value: axes from the outermost to the one that varies
/// fastest over ranks. Without axes: one rank.
struct MeshShape {
  /// The most ranks that the runtime can run (TSR_LIMIT_RANKS).
  static constexpr int64_t kMostRanks = int64_t(1) << 16;

  struct Axis {
    MeshAxis axis;
    int64_t size;
  };
  std::vector<Axis> axes;

  /// Replaces the axes by those of a text. Returns what is wrong with it, or
  /// "".
  std::string parse(const std::string &text);
  /// Adds an axis that an alias names. Returns what is wrong, or "".
  std::string add(MeshAxis axis, int64_t size);
  std::string str() const;
  int64_t ranks() const;
  /// Returns the ranks of `dp` and `ep`, which share the batch.
  int64_t lanes() const;
  /// Returns the size of an axis; 1 for an axis that the mesh does not have.
  int64_t sizeOf(MeshAxis axis) const;
};

} // namespace tessera

#endif // TESSERA_OPTIONS_MESHSHAPE_H
