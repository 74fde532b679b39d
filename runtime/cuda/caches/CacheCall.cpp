//===- CacheCall.cpp - Checks calls and makes their parameters ------------===//

#include "runtime/cuda/caches/CacheCall.h"
#include "runtime/cuda/attention/AttentionParams.h"
#include "runtime/cuda/attention/DistanceBuckets.h"
#include "runtime/cuda/caches/SplitAttention.h"
#include "runtime/cuda/collectives/Pairs.h"
#include "tessera/abi.h"

#include <algorithm>
#include <initializer_list>

using namespace tessera;
using namespace tessera::cuda;

/// Sizes are ints in the kernels, with room for the last block.
static constexpr int64_t kMostSize = (int64_t(1) << 31) - 1024;
/// Blocks along y of a grid (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
static constexpr int64_t kMostAcross = 65535;
static constexpr int64_t kMostHeadDim = 256;
/// A split's positions are worth a block, and parts of long texts are few
/// enough for their memory. Estimates: to be measured on a GPU.
static constexpr int64_t kLeastSplit = 256, kMostSplits = 16;

static std::string tooMany(const char *entry, int64_t count, const char *what,
                           int64_t most) {
  return std::string(entry) + ": " + std::to_string(count) + " " + what +
         " are too many for device 'cuda'; at most " + std::to_string(most);
}

static std::string checkType(const char *entry, int64_t dtype) {
  return dtype == TSR_DTYPE_F64
             ? std::string(entry) +
                   ": f64 is not supported on device 'cuda'; use f32 or bf16"
             : "";
}

static std::string checkSizes(const char *entry, int64_t rows, int64_t slots,
                              int64_t places) {
  if (rows > kMostSize)
    return tooMany(entry, rows, "rows", kMostSize);
  if (slots > kMostSize)
    return tooMany(entry, slots, "slots", kMostSize);
  return places > kMostSize ? tooMany(entry, places, "places", kMostSize) : "";
}

std::string tessera::cuda::checkAppend(const AppendProblem &p) {
  const int64_t width = std::max(p.columns, p.row) * p.elementBytes() / 2;
  if (std::string why = checkType("append", p.dtype); !why.empty())
    return why;
  if (width > kMostSize)
    return tooMany("append", width, "halves of a row", kMostSize);
  return checkSizes("append", p.lanes * p.rows, p.slots, p.places);
}

static int64_t tilesOf(const CacheProblem &p) {
  const int64_t width = queryTile(p.group());
  return p.kvHeads * ((p.group() + width - 1) / width);
}

std::string tessera::cuda::checkCachedAttention(const CacheProblem &p) {
  const char *entry = "cached_attention";
  if (std::string why = checkType(entry, p.dtype); !why.empty())
    return why;
  if (p.buckets - p.buckets / 2 > kMostFarBuckets)
    return tooMany(entry, p.buckets, "buckets of distances",
                   2 * kMostFarBuckets);
  if (p.headDim > kMostHeadDim)
    return tooMany(entry, p.headDim, "elements of a head", kMostHeadDim);
  if (tilesOf(p) > kMostAcross)
    return tooMany(entry, tilesOf(p), "groups of heads", kMostAcross);
  return checkSizes(entry, p.lanes * p.rows, p.slots, p.places);
}

std::string tessera::cuda::checkMergeMeans(const MeansProblem &p) {
  constexpr int64_t most = Pairs<float, Add>::most;
  if (std::string why = checkType("merge_means", p.dtypeIn); !why.empty())
    return why;
  if (p.ranks > most)
    return tooMany("merge_means", p.ranks, "ranks", most);
  if (p.columns > kMostSize)
    return tooMany("merge_means", p.columns, "columns", kMostSize);
  return p.rows > kMostSize ? tooMany("merge_means", p.rows, "rows", kMostSize)
                            : "";
}

static int64_t roundUp(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

/// Returns the positions that a row reads at most: those that the rank has.
static int64_t spanOf(const CacheProblem &p) {
  return p.window == 0 ? p.places
                       : std::min(p.places, (p.window - 1) / p.deal + 1);
}

static int64_t splitLengthOf(const CacheProblem &p) {
  return std::max(
      kLeastSplit,
      roundUp((spanOf(p) + kMostSplits - 1) / kMostSplits, kCacheChunk));
}

static int64_t splitsOf(const CacheProblem &p) {
  const int64_t length = splitLengthOf(p);
  return (spanOf(p) + length - 1) / length;
}

size_t tessera::cuda::cachedAttentionWorkspace(const CacheProblem &p) {
  const int64_t splits = splitsOf(p);
  return splits == 1 ? 0
                     : sizeof(float) * size_t(splits * p.lanes * p.rows *
                                              p.heads * (p.headDim + 1));
}

static CacheRows rowsOf(const int32_t *slotOf, const int32_t *positionOf,
                        int64_t lanes, int64_t rows) {
  CacheRows of = {};
  of.slotOf = slotOf;
  of.positionOf = positionOf;
  of.count = lanes * rows;
  of.rows = int(rows);
  return of;
}

template <class Problem> static CacheRows rowsOf(const Problem &p) {
  CacheRows of = rowsOf(p.slotOf, p.positionOf, p.lanes, p.rows);
  of.slots = int(p.slots);
  of.places = int(p.places);
  of.deal = int(p.deal);
  of.ordinal = int(p.ordinal);
  return of;
}

/// Returns whether each of these, bytes or addresses, is a multiple of 16.
static bool areAligned(std::initializer_list<uintptr_t> all) {
  return std::all_of(all.begin(), all.end(),
                     [](uintptr_t x) { return x % 16 == 0; });
}

static uintptr_t addressOf(const void *data) {
  return reinterpret_cast<uintptr_t>(data);
}

AppendParams tessera::cuda::makeAppendParams(const AppendProblem &p) {
  AppendParams a = {};
  a.of = rowsOf(p);
  a.cache = p.cache;
  a.from = p.from;
  a.placeHalves = p.columns * p.elementBytes() / 2;
  a.rowHalves = p.row * p.elementBytes() / 2;
  a.aligned =
      areAligned({addressOf(p.cache), addressOf(p.from),
                  uintptr_t(a.placeHalves * 2), uintptr_t(a.rowHalves * 2)});
  return a;
}

CachedAttentionParams
tessera::cuda::makeCachedAttentionParams(const CacheProblem &p,
                                         void *workspace) {
  const int64_t elementBytes = p.dtype == TSR_DTYPE_BF16 ? 2 : 4;
  CachedAttentionParams a = {};
  a.of = rowsOf(p);
  a.q = p.q;
  a.keys = p.keys;
  a.values = p.values;
  a.o = p.o;
  a.splits = int(splitsOf(p));
  a.splitLength = int(splitLengthOf(p));
  a.parts = a.splits == 1 ? nullptr : static_cast<float *>(workspace);
  a.row = p.row;
  a.heads = int(p.heads);
  a.kvHeads = int(p.kvHeads);
  a.headDim = int(p.headDim);
  // One that hides nothing need not fit an int.
  a.window = p.window > kMostSize ? 0 : int(p.window);
  a.scaleLog2 = float(p.scale * double(kLog2E));
  a.weighted = p.weighted;
  if (p.buckets > 0) {
    a.bias =
        distanceBuckets({p.buckets, p.maxDistance, /*causal=*/true}, kMostSize);
    a.bias.table = static_cast<const float *>(p.biasTable);
  }
  a.aligned = areAligned({addressOf(p.keys), addressOf(p.values),
                          uintptr_t(p.headDim * elementBytes)});
  return a;
}

MeansParams tessera::cuda::makeMeansParams(const MeansProblem &p) {
  return {static_cast<const float *>(p.parts),
          p.means,
          p.rows,
          int(p.ranks),
          int(p.columns),
          p.weighted};
}

MeansParams tessera::cuda::meansOf(const CachedAttentionParams &p) {
  return {p.parts, p.o, p.of.count * p.heads, p.splits, p.headDim, p.weighted};
}
