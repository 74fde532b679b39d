#include "TensorAccess.h"

#include "DType.h"
#include "Sharding.h"
#include "ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

// Elements handled at a time: the f64 block fits the second-level cache.
static constexpr int64_t blockElements = 8192;

static ShardRuns runsOf(const Rank &rank, const TensorInfo &tensor) {
  return ShardRuns(shardOf(tensor, rank.metadata->mesh, rank.coordinates),
                   blockElements);
}

void readGlobal(const Ranks &ranks, const TensorInfo &tensor, double *values) {
  int64_t element = dtypeBytes(tensor.dtype);
  std::vector<double> block(blockElements);
  for (const auto &rank : ranks) {
    if (!isFirstReplica(tensor, rank->metadata->mesh, rank->coordinates))
      continue;
    bool first = isFirstAddend(tensor, rank->coordinates);
    ShardRuns runs = runsOf(*rank, tensor);
    for (int64_t i = 0; i < runs.count(); ++i) {
      Run run = runs.at(i);
      const unsigned char *src = rank->at(tensor) + run.local * element;
      double *dst = values + run.global;
      widen(tensor.dtype, src, first ? dst : block.data(), run.length);
      for (int64_t k = 0; !first && k < run.length; ++k)
        dst[k] += block[k];
    }
  }
}

void readGlobalBytes(const Ranks &ranks, const TensorInfo &tensor,
                     char *bytes) {
  int64_t element = dtypeBytes(tensor.dtype);
  for (const auto &rank : ranks) {
    if (!isFirstReplica(tensor, rank->metadata->mesh, rank->coordinates))
      continue;
    ShardRuns runs = runsOf(*rank, tensor);
    for (int64_t i = 0; i < runs.count(); ++i) {
      Run run = runs.at(i);
      std::memcpy(bytes + run.global * element,
                  rank->at(tensor) + run.local * element, run.length * element);
    }
  }
}

void readLocal(const Rank &rank, const TensorInfo &tensor, double *values) {
  widen(tensor.dtype, rank.at(tensor), values, tensor.localElements());
}

/// Zeroes what `writeRuns` will not write. Returns false if that is everything.
static bool prepare(const Rank &rank, const TensorInfo &tensor) {
  bool first = isFirstAddend(tensor, rank.coordinates);
  Shard shard = shardOf(tensor, rank.metadata->mesh, rank.coordinates);
  if (!first || shard.isPadded())
    std::memset(rank.at(tensor), 0, tensor.localBytes());
  return first;
}

void writeShard(const Rank &rank, const TensorInfo &tensor,
                const Source &source, int via) {
  if (!prepare(rank, tensor))
    return;
  ShardRuns runs = runsOf(rank, tensor);
  int64_t count = runs.count(), element = dtypeBytes(tensor.dtype);
  int pieces = count > 4 ? rank.threads : 1;
  inParallel(pieces, [&](int64_t piece) {
    std::vector<double> values(blockElements),
        rounded(via < 0 ? 0 : blockElements);
    for (int64_t i = count * piece / pieces; i < count * (piece + 1) / pieces;
         ++i) {
      Run run = runs.at(i);
      source(run.global, run.length, values.data());
      if (via >= 0) {
        narrow(via, values.data(), rounded.data(), run.length);
        widen(via, rounded.data(), values.data(), run.length);
      }
      narrow(tensor.dtype, values.data(), rank.at(tensor) + run.local * element,
             run.length);
    }
  });
}

void writeShardBytes(const Rank &rank, const TensorInfo &tensor,
                     const char *bytes) {
  if (!prepare(rank, tensor))
    return;
  ShardRuns runs = runsOf(rank, tensor);
  int64_t element = dtypeBytes(tensor.dtype);
  for (int64_t i = 0; i < runs.count(); ++i) {
    Run run = runs.at(i);
    std::memcpy(rank.at(tensor) + run.local * element,
                bytes + run.global * element, run.length * element);
  }
}

} // namespace tessera
