//===- Sharding.h - which elements of a tensor a rank holds -----*- C++ -*-===//
// The nested ceil-chunk sharding of docs/Artifact.md: in every dimension a rank
// holds one range of the global indices, at the start of its local dimension;
// what follows is padding.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_SHARDING_H
#define TESSERA_RUNTIME_ARTIFACT_SHARDING_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

/// One dimension of a rank's part: local indices [0, valid) are the global
/// indices [start, start + valid).
struct DimRange {
  int64_t start, valid, local, global;

  bool operator==(const DimRange &other) const {
    return start == other.start && valid == other.valid &&
           local == other.local && global == other.global;
  }
};

struct Shard {
  std::vector<DimRange> dims;

  bool isPadded() const;
  bool operator==(const Shard &other) const { return dims == other.dims; }
};

/// `axes` cut a dimension of size `global`, the first is the outermost. An
/// inner axis cuts the padded chunk of the outer one, so all ranks have one
/// size.
struct Cut {
  int64_t size, coordinate;
};
DimRange cutDimension(int64_t global, const std::vector<Cut> &axes);

Shard shardOf(const TensorInfo &tensor, const Mesh &mesh,
              const std::vector<int64_t> &coordinates);
std::vector<int64_t> localShapeOf(const TensorInfo &tensor, const Mesh &mesh);

/// Elements that are contiguous both locally and globally; indices are in
/// elements of the row-major arrays.
struct Run {
  int64_t local, global, length;
};

/// A shard's valid elements as runs of at most `longest` elements, ordered by
/// global index, each reachable in O(dimensions).
class ShardRuns {
public:
  explicit ShardRuns(const Shard &shard, int64_t longest = INT64_MAX);

  int64_t count() const { return rows * pieces; }
  Run at(int64_t index) const;

private:
  struct Outer {
    int64_t valid, localStride, globalStride;
  };
  std::vector<Outer> outer; ///< innermost first
  int64_t globalStart = 0, rows = 1, length = 1, longest, pieces = 1;
};

/// Returns the first coordinate on an axis that has anything of the tensor: a
/// stage may have none.
int64_t firstOnAxis(const TensorInfo &tensor, const Mesh &mesh, int64_t axis);

/// Returns true for one rank of all that hold equal copies; a partial tensor's
/// sums are no copies of each other.
bool isFirstReplica(const TensorInfo &tensor, const Mesh &mesh,
                    const std::vector<int64_t> &coordinates);
/// Returns whether the rank is the first on all axes over which the tensor is
/// partial.
bool isFirstAddend(const TensorInfo &tensor, const Mesh &mesh,
                   const std::vector<int64_t> &coordinates);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_SHARDING_H
