#include "runtime/session/TensorAccess.h"

#include "runtime/artifact/Sharding.h"
#include "runtime/session/GatheredPart.h"
#include "runtime/support/DType.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

// Elements handled at a time: the f64 block fits the second-level cache.
static constexpr int64_t blockElements = 8192;

static ShardRuns runsOf(const Rank &rank, const TensorInfo &tensor) {
  return ShardRuns(shardOf(tensor, rank.metadata->mesh, rank.coordinates),
                   blockElements);
}

/// Whether the rank at `place` has the tensor: not every stage does.
static bool isHeld(const TensorInfo &tensor, const Mesh &mesh,
                   const std::vector<int64_t> &place) {
  return tensor.isAt(mesh.stageOf(place));
}

/// take(run, its bytes, whether they are the first partial sum), rank by rank.
template <class Take>
static void forEachRun(const Ranks &ranks, const TensorInfo &tensor,
                       const Take &take) {
  const Mesh &mesh = ranks[0]->metadata->mesh;
  int64_t element = dtypeBytes(tensor.dtype);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> place = mesh.coordinates(rank);
    if (!isHeld(tensor, mesh, place) || !isFirstReplica(tensor, mesh, place))
      continue;
    GatheredPart part(ranks, rank, tensor);
    bool first = isFirstAddend(tensor, mesh, place);
    ShardRuns runs(shardOf(tensor, mesh, place), blockElements);
    for (int64_t i = 0; part.data() && i < runs.count(); ++i) {
      Run run = runs.at(i);
      take(run, part.data() + run.local * element, first);
    }
  }
}

void readGlobal(const Ranks &ranks, const TensorInfo &tensor, double *values) {
  std::vector<double> block(blockElements);
  forEachRun(ranks, tensor,
             [&](const Run &run, const unsigned char *src, bool first) {
               double *dst = values + run.global;
               widen(tensor.dtype, src, first ? dst : block.data(), run.length);
               for (int64_t k = 0; !first && k < run.length; ++k)
                 dst[k] += block[k];
             });
}

void readGlobal(const Ranks &ranks, const TensorInfo &tensor, float *values) {
  if (!tensor.partial.empty()) { // added in f64, rounded once
    std::vector<double> sums(tensor.elements());
    readGlobal(ranks, tensor, sums.data());
    narrow(TSR_DTYPE_F32, sums.data(), values, tensor.elements());
    return;
  }
  std::vector<double> block(blockElements);
  forEachRun(
      ranks, tensor, [&](const Run &run, const unsigned char *src, bool) {
        widen(tensor.dtype, src, block.data(), run.length);
        narrow(TSR_DTYPE_F32, block.data(), values + run.global, run.length);
      });
}

void readGlobalBytes(const Ranks &ranks, const TensorInfo &tensor,
                     char *bytes) {
  int64_t element = dtypeBytes(tensor.dtype);
  forEachRun(
      ranks, tensor, [&](const Run &run, const unsigned char *src, bool) {
        std::memcpy(bytes + run.global * element, src, run.length * element);
      });
}

void readLocal(const Rank &rank, const TensorInfo &tensor, double *values) {
  HostTensor part = HostTensor::toRead(rank, tensor);
  widen(tensor.dtype, part.data(), values, tensor.localElements());
}

void writeScalar(Rank &rank, const TensorInfo &tensor, double value) {
  if (!rank.holds(tensor))
    return;
  unsigned char bytes[sizeof(double)];
  narrow(tensor.dtype, &value, bytes, 1);
  rank.device->write(rank.offsetOf(tensor), dtypeBytes(tensor.dtype), bytes);
}

double readScalar(const Rank &rank, const TensorInfo &tensor) {
  unsigned char bytes[sizeof(double)];
  rank.device->read(rank.offsetOf(tensor), dtypeBytes(tensor.dtype), bytes);
  double value;
  widen(tensor.dtype, bytes, &value, 1);
  return value;
}

void zeroTensor(const Rank &rank, const TensorInfo &tensor) {
  if (rank.holds(tensor))
    rank.device->zero(rank.offsetOf(tensor), tensor.localBytes());
}

/// Whether the rank holds values of the tensor; zeroes it if not.
static bool holdsValues(const Rank &rank, const TensorInfo &tensor) {
  bool first = rank.holds(tensor) &&
               isFirstAddend(tensor, rank.metadata->mesh, rank.coordinates);
  if (!first)
    zeroTensor(rank, tensor);
  return first;
}

/// The rank's part with its padding zeroed.
static HostTensor partToWrite(const Rank &rank, const TensorInfo &tensor) {
  HostTensor part = HostTensor::toWrite(rank, tensor);
  if (shardOf(tensor, rank.metadata->mesh, rank.coordinates).isPadded())
    part.zero();
  return part;
}

void writeShard(const Rank &rank, const TensorInfo &tensor,
                const Source &source, int via) {
  if (!holdsValues(rank, tensor))
    return;
  HostTensor part = partToWrite(rank, tensor);
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
      narrow(tensor.dtype, values.data(), part.data() + run.local * element,
             run.length);
    }
  });
  part.store();
}

/// fill(run, bytes): one contiguous run after the other, where it is to lie.
template <class Fill>
static void fillShard(const Rank &rank, const TensorInfo &tensor,
                      const Fill &fill) {
  if (!holdsValues(rank, tensor))
    return;
  HostTensor part = partToWrite(rank, tensor);
  ShardRuns runs = runsOf(rank, tensor);
  int64_t element = dtypeBytes(tensor.dtype);
  for (int64_t i = 0; i < runs.count(); ++i) {
    Run run = runs.at(i);
    fill(run, part.data() + run.local * element);
  }
  part.store();
}

void writeTokens(const Rank &rank, const TensorInfo &tensor,
                 const Tokens &tokens) {
  if (tensor.dtype != TSR_DTYPE_I32)
    fail(TSR_CORRUPT, "input '", tensor.name, "' has elements of type ",
         dtypeName(tensor.dtype), ", tokens are i32");
  fillShard(rank, tensor, [&](const Run &run, unsigned char *out) {
    tokens(run.global, run.length, reinterpret_cast<int32_t *>(out));
  });
}

void writeStored(const Rank &rank, const TensorInfo &tensor,
                 const Stored &stored) {
  fillShard(rank, tensor, [&](const Run &run, unsigned char *out) {
    stored(run.global, run.length, reinterpret_cast<char *>(out));
  });
}

} // namespace tessera
