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

/// Returns whether the rank at `place` has the tensor: not every stage does.
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

/// Returns whether the rank holds values of the tensor; zeroes it if not.
static bool holdsValues(const Rank &rank, const TensorInfo &tensor) {
  bool first = rank.holds(tensor) &&
               isFirstAddend(tensor, rank.metadata->mesh, rank.coordinates);
  if (!first)
    zeroTensor(rank, tensor);
  return first;
}

namespace {
/// The rank's parts of tensors that are cut alike, as runs that are filled in
/// order: the whole of them where the host reaches the arena, elsewhere as many
/// as fit a piece.
class PartsWriter {
public:
  PartsWriter(const Rank &rank, const std::vector<const TensorInfo *> &tensors)
      : rank(rank), tensors(tensors), runs(runsOf(rank, *tensors[0])) {
    for (const TensorInfo *tensor : tensors) {
      widest = std::max(widest, dtypeBytes(tensor->dtype));
      writers.emplace_back(rank, *tensor);
    }
    const Mesh &mesh = rank.metadata->mesh;
    hasGaps = shardOf(*tensors[0], mesh, rank.coordinates).isPadded();
  }

  /// fill(run, places): a run, and where each tensor's elements go; body()
  /// makes one `fill` for each thread.
  template <class Body> void write(const Body &body) {
    if (hasGaps)
      for (const TensorInfo *tensor : tensors)
        zeroTensor(rank, *tensor);
    for (int64_t first = 0, end; first < runs.count(); first = end) {
      end = endOfPiece(first);
      const int64_t start = runs.at(first).local;
      for (PieceWriter &writer : writers)
        writer.begin(start, endOf(runs.at(end - 1)) - start, hasGaps);
      fillPiece(first, end, body);
      for (PieceWriter &writer : writers)
        writer.end();
    }
  }

private:
  int64_t endOfPiece(int64_t first) const {
    const int64_t most = writers[0].mostBytes() / widest;
    if (most >= tensors[0]->localElements())
      return runs.count();
    const int64_t start = runs.at(first).local;
    int64_t end = first + 1;
    while (end < runs.count() && endOf(runs.at(end)) - start <= most)
      ++end;
    return end;
  }
  static int64_t endOf(const Run &run) { return run.local + run.length; }

  template <class Body>
  void fillPiece(int64_t first, int64_t end, const Body &body) {
    const int64_t count = end - first;
    const int64_t pieces = std::clamp<int64_t>(count / 4, 1, rank.threads);
    inParallel(static_cast<int>(pieces), [&](int64_t piece) {
      auto fill = body();
      std::vector<unsigned char *> places(writers.size());
      for (int64_t i = first + count * piece / pieces;
           i < first + count * (piece + 1) / pieces; ++i) {
        const Run run = runs.at(i);
        for (size_t k = 0; k < writers.size(); ++k)
          places[k] = writers[k].at(run.local);
        fill(run, places);
      }
    });
  }

  const Rank &rank;
  const std::vector<const TensorInfo *> &tensors;
  ShardRuns runs;
  int64_t widest = 1;
  bool hasGaps;
  std::vector<PieceWriter> writers;
};

/// The values that a tensor is given. They are rounded to the type `via` first,
/// unless it is negative.
struct Target {
  const TensorInfo *tensor;
  int via;
};

/// Stores blocks of values in targets; of one thread.
class BlockStore {
public:
  BlockStore(const std::vector<Target> &targets, const Source &source)
      : targets(targets), source(source), values(blockElements) {}

  void operator()(const Run &run, const std::vector<unsigned char *> &places) {
    source(run.global, run.length, values.data());
    for (size_t k = 0; k < targets.size(); ++k) {
      const auto &[tensor, via] = targets[k];
      narrow(tensor->dtype,
             via < 0 ? values.data() : roundedTo(via, run.length), places[k],
             run.length);
    }
  }

private:
  const double *roundedTo(int via, int64_t count) {
    stored.resize(blockElements);
    rounded.resize(blockElements);
    narrow(via, values.data(), stored.data(), count);
    widen(via, stored.data(), rounded.data(), count);
    return rounded.data();
  }

  const std::vector<Target> &targets;
  const Source &source;
  std::vector<double> values, rounded;
  std::vector<double> stored; ///< holds values of any type: none is wider
};
} // namespace

/// Fills targets that the rank has the same elements of.
static void writeTargets(const Rank &rank, const std::vector<Target> &targets,
                         const Source &source) {
  std::vector<const TensorInfo *> held;
  for (const Target &target : targets)
    if (holdsValues(rank, *target.tensor))
      held.push_back(target.tensor);
  if (held.size() == targets.size())
    PartsWriter(rank, held).write([&] { return BlockStore(targets, source); });
}

void writeShard(const Rank &rank, const TensorInfo &tensor,
                const Source &source) {
  writeTargets(rank, {{&tensor, -1}}, source);
}

/// Returns whether the rank has the same elements of two tensors of one shape.
static bool isCutAlike(const Rank &rank, const TensorInfo &a,
                       const TensorInfo &b) {
  const Mesh &mesh = rank.metadata->mesh;
  return rank.holds(a) == rank.holds(b) && a.partial == b.partial &&
         shardOf(a, mesh, rank.coordinates) ==
             shardOf(b, mesh, rank.coordinates);
}

void writeWithMaster(const Rank &rank, const TensorInfo &parameter,
                     const TensorInfo &master, const Source &source) {
  const Target rounded{&parameter, master.dtype}, exact{&master, -1};
  if (isCutAlike(rank, parameter, master))
    return writeTargets(rank, {rounded, exact}, source);
  writeTargets(rank, {rounded}, source);
  writeTargets(rank, {exact}, source);
}

void writeTokens(const Rank &rank, const TensorInfo &tensor,
                 const Tokens &tokens) {
  if (tensor.dtype != TSR_DTYPE_I32)
    fail(TSR_CORRUPT, "input '", tensor.name, "' has elements of type ",
         dtypeName(tensor.dtype), ", tokens are i32");
  if (!holdsValues(rank, tensor))
    return;
  HostTensor part = HostTensor::toWrite(rank, tensor);
  if (shardOf(tensor, rank.metadata->mesh, rank.coordinates).isPadded())
    part.zero();
  ShardRuns runs = runsOf(rank, tensor);
  for (int64_t i = 0; i < runs.count(); ++i) {
    Run run = runs.at(i);
    tokens(run.global, run.length,
           reinterpret_cast<int32_t *>(part.data()) + run.local);
  }
  part.store();
}

void writeStored(const Rank &rank, const TensorInfo &tensor,
                 const Stored &stored) {
  if (!holdsValues(rank, tensor))
    return;
  const std::vector<const TensorInfo *> tensors{&tensor};
  PartsWriter(rank, tensors).write([&] {
    return [&](const Run &run, const std::vector<unsigned char *> &places) {
      stored(run.global, run.length, reinterpret_cast<char *>(places[0]));
    };
  });
}

} // namespace tessera
