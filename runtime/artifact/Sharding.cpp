#include "runtime/artifact/Sharding.h"

#include <algorithm>

namespace tessera {

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

DimRange cutDimension(int64_t global, const std::vector<Cut> &axes) {
  DimRange range{0, global, global, global};
  for (const Cut &axis : axes) {
    range.local = ceilDiv(range.local, axis.size);
    int64_t skipped = range.local * axis.coordinate;
    range.start += skipped;
    range.valid = std::clamp<int64_t>(range.valid - skipped, 0, range.local);
  }
  if (range.valid == 0)
    range.start = global;
  return range;
}

Shard shardOf(const TensorInfo &tensor, const Mesh &mesh,
              const std::vector<int64_t> &coordinates) {
  Shard shard;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    std::vector<Cut> cuts;
    for (const Split &split : tensor.sharding)
      if (split.dim == static_cast<int64_t>(d))
        cuts.push_back({mesh.axes[split.axis].size, coordinates[split.axis]});
    shard.dims.push_back(cutDimension(tensor.shape[d], cuts));
  }
  return shard;
}

std::vector<int64_t> localShapeOf(const TensorInfo &tensor, const Mesh &mesh) {
  Shard shard = shardOf(tensor, mesh, mesh.coordinates(0));
  std::vector<int64_t> shape;
  for (const DimRange &dim : shard.dims)
    shape.push_back(dim.local);
  return shape;
}

bool Shard::isPadded() const {
  return std::any_of(dims.begin(), dims.end(), [](const DimRange &dim) {
    return dim.valid != dim.local;
  });
}

ShardRuns::ShardRuns(const Shard &shard, int64_t longest) : longest(longest) {
  int64_t localStride = 1, globalStride = 1;
  bool contiguous = true;
  for (size_t i = shard.dims.size(); i-- > 0;) {
    const DimRange &dim = shard.dims[i];
    globalStart += dim.start * globalStride;
    if (contiguous) {
      length *= dim.valid;
      contiguous = dim.valid == dim.local && dim.valid == dim.global;
    } else {
      outer.push_back({dim.valid, localStride, globalStride});
      rows *= dim.valid;
    }
    localStride *= dim.local;
    globalStride *= dim.global;
  }
  pieces = ceilDiv(length, std::min(longest, std::max<int64_t>(length, 1)));
}

Run ShardRuns::at(int64_t index) const {
  int64_t row = index / pieces, piece = index % pieces;
  int64_t first = pieces == 1 ? 0 : piece * longest;
  Run run{first, globalStart + first,
          pieces == 1 ? length : std::min(longest, length - first)};
  for (const Outer &dim : outer) {
    run.local += row % dim.valid * dim.localStride;
    run.global += row % dim.valid * dim.globalStride;
    row /= dim.valid;
  }
  return run;
}

static bool isPartialOn(const TensorInfo &tensor, int64_t axis) {
  return std::count(tensor.partial.begin(), tensor.partial.end(), axis) != 0;
}

int64_t firstOnAxis(const TensorInfo &tensor, const Mesh &mesh, int64_t axis) {
  return axis == mesh.stageAxis ? tensor.firstStage() : 0;
}

bool isFirstReplica(const TensorInfo &tensor, const Mesh &mesh,
                    const std::vector<int64_t> &coordinates) {
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    bool sharded = std::any_of(
        tensor.sharding.begin(), tensor.sharding.end(),
        [&](const Split &s) { return s.axis == static_cast<int64_t>(axis); });
    if (!sharded && !isPartialOn(tensor, axis) &&
        coordinates[axis] != firstOnAxis(tensor, mesh, axis))
      return false;
  }
  return true;
}

bool isFirstAddend(const TensorInfo &tensor, const Mesh &mesh,
                   const std::vector<int64_t> &coordinates) {
  return std::all_of(
      tensor.partial.begin(), tensor.partial.end(), [&](int64_t axis) {
        return coordinates[axis] == firstOnAxis(tensor, mesh, axis);
      });
}

} // namespace tessera
