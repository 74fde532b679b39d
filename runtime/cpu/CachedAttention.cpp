//===- CachedAttention.cpp - The entries `append` and `cached_attention` --===//

#include "runtime/cpu/CacheProblem.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/PositionBucket.h"
#include "runtime/cpu/Workspace.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

using namespace tessera;

std::string tessera::checkRows(const char *entry, int64_t lanes, int64_t rows,
                               int64_t slots, const int32_t *slotOf,
                               const int32_t *positionOf) {
  for (int64_t row = 0; row < lanes * rows; ++row)
    if (slotOf[row] >= slots || (slotOf[row] >= 0 && positionOf[row] < 0))
      return std::string(entry) + ": row " + std::to_string(row % rows) +
             " of lane " + std::to_string(row / rows) + " is of slot " +
             std::to_string(slotOf[row]) + " at position " +
             std::to_string(positionOf[row]) + "; a lane has " +
             std::to_string(slots) + " slots, positions begin at 0";
  return "";
}

static constexpr int64_t kCacheBytes[] = {4, 2, 8}; // f32, bf16, f64

static std::string checkCacheType(const char *entry, int64_t dtype) {
  if (dtype >= TSR_DTYPE_F32 && dtype <= TSR_DTYPE_F64)
    return "";
  return std::string(entry) + ": dtype " + std::to_string(dtype) +
         " is not supported; use f32 (0), bf16 (1) or f64 (2)";
}

static std::string checkDeal(const char *entry, int64_t deal, int64_t places,
                             int64_t start) {
  if (deal >= 1 && places >= 1 && start >= 0 && start % places == 0 &&
      start / places < deal)
    return "";
  return std::string(entry) + ": place " + std::to_string(start) +
         " does not begin the " + std::to_string(places) +
         " places of one of " + std::to_string(deal) + " ranks";
}

int32_t tessera::cpuAppend(int, void *const *buffers, const int64_t *args,
                           std::string *error) try {
  const int64_t lanes = args[TSR_APPEND_LANES], rows = args[TSR_APPEND_ROWS];
  const int64_t slots = args[TSR_APPEND_SLOTS];
  const int64_t places = args[TSR_APPEND_PLACES];
  const auto *slotOf = static_cast<const int32_t *>(buffers[2]);
  const auto *positionOf = static_cast<const int32_t *>(buffers[3]);
  *error = checkCacheType("append", args[TSR_APPEND_DTYPE]);
  if (error->empty())
    *error = checkDeal("append", args[TSR_APPEND_DEAL], places,
                       args[TSR_APPEND_START]);
  if (error->empty())
    *error = checkRows("append", lanes, rows, slots, slotOf, positionOf);
  if (!error->empty())
    return TSR_INVALID_ARGUMENT;
  const int64_t deal = args[TSR_APPEND_DEAL];
  const int64_t ordinal = args[TSR_APPEND_START] / places;
  const int64_t bytes =
      args[TSR_APPEND_COLUMNS] * kCacheBytes[args[TSR_APPEND_DTYPE]];
  const int64_t stride =
      args[TSR_APPEND_ROW] * kCacheBytes[args[TSR_APPEND_DTYPE]];
  char *cache = static_cast<char *>(buffers[0]);
  const char *from = static_cast<const char *>(buffers[1]);
  for (int64_t row = 0; row < lanes * rows; ++row) {
    if (slotOf[row] < 0 || positionOf[row] % deal != ordinal)
      continue;
    const int64_t slot = row / rows * slots + slotOf[row];
    const int64_t place = slot * places + positionOf[row] / deal % places;
    std::memcpy(cache + place * bytes, from + row * stride, bytes);
  }
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("append: ") + failure.what();
  return TSR_INTERNAL;
}

static CacheProblem decodeCache(void *const *buffers, const int64_t *args) {
  CacheProblem p;
  p.lanes = args[TSR_CACHED_ATTENTION_LANES];
  p.rows = args[TSR_CACHED_ATTENTION_ROWS];
  p.slots = args[TSR_CACHED_ATTENTION_SLOTS];
  p.places = args[TSR_CACHED_ATTENTION_PLACES];
  p.heads = args[TSR_CACHED_ATTENTION_HEADS];
  p.kvHeads = args[TSR_CACHED_ATTENTION_KV_HEADS];
  p.headDim = args[TSR_CACHED_ATTENTION_HEAD_DIM];
  p.row = args[TSR_CACHED_ATTENTION_ROW];
  p.window = args[TSR_CACHED_ATTENTION_WINDOW];
  std::memcpy(&p.scale, &args[TSR_CACHED_ATTENTION_SCALE_BITS], sizeof p.scale);
  p.dtype = args[TSR_CACHED_ATTENTION_DTYPE];
  p.deal = args[TSR_CACHED_ATTENTION_DEAL];
  p.ordinal = args[TSR_CACHED_ATTENTION_START] / std::max<int64_t>(p.places, 1);
  p.weighted = args[TSR_CACHED_ATTENTION_WEIGHTED] != 0;
  p.q = buffers[0];
  p.keys = buffers[1];
  p.values = buffers[2];
  p.slotOf = static_cast<const int32_t *>(buffers[3]);
  p.positionOf = static_cast<const int32_t *>(buffers[4]);
  p.o = buffers[5];
  if (args[TSR_CACHED_ATTENTION_BUCKETS] > 0)
    p.biasTable = buffers[6];
  p.maxDistance = args[TSR_CACHED_ATTENTION_MAX_DISTANCE];
  return p;
}

static std::string checkBuckets(const CacheProblem &p, int64_t buckets) {
  if (buckets == 0 ||
      (buckets >= 2 && p.maxDistance > buckets / 2 && p.heads == p.kvHeads))
    return "";
  return "cached_attention: " + std::to_string(buckets) +
         " buckets to distance " + std::to_string(p.maxDistance) + " for " +
         std::to_string(p.heads) + " heads and " + std::to_string(p.kvHeads) +
         " key heads; it needs at least 2, a distance above half of them, and "
         "as many heads";
}

/// Of each distance that occurs.
static std::vector<int32_t> bucketsOf(const CacheProblem &p, int64_t buckets) {
  std::vector<int32_t> found;
  const PositionBuckets of{buckets, p.maxDistance, /*causal=*/true};
  for (int64_t distance = 0; buckets > 0 && distance <= p.maxDistance;
       ++distance)
    found.push_back(static_cast<int32_t>(of.at(distance)));
  return found;
}

/// Where each thread begins: all read about as many positions.
static std::vector<int64_t> shareUnits(const CacheProblem &p, int threads) {
  const int64_t rows = p.lanes * p.rows;
  std::vector<int64_t> work(rows + 1, 0);
  for (int64_t row = 0; row < rows; ++row)
    work[row + 1] =
        work[row] + 1 + (p.isLive(row) ? p.endOf(row) - p.firstOf(row) : 0);
  const int64_t all = work.back() * p.kvHeads;
  // A thread that reads less than this costs more than it gives.
  constexpr int64_t least = 4096;
  const int64_t parts = std::clamp<int64_t>(all * p.group() * p.headDim / least,
                                            1, std::max(threads, 1));
  std::vector<int64_t> begins = {0};
  int64_t done = 0;
  for (int64_t unit = 0; unit < rows * p.kvHeads; ++unit) {
    const int64_t row = unit / p.kvHeads;
    done += work[row + 1] - work[row];
    const auto begun = static_cast<int64_t>(begins.size());
    if (begun < parts && done * parts >= all * begun)
      begins.push_back(unit + 1);
  }
  begins.push_back(rows * p.kvHeads);
  return begins;
}

int32_t tessera::cpuCachedAttention(int threads, void *const *buffers,
                                    const int64_t *args,
                                    std::string *error) try {
  CacheProblem p = decodeCache(buffers, args);
  const int64_t bucketCount = args[TSR_CACHED_ATTENTION_BUCKETS];
  *error = checkCacheType("cached_attention", p.dtype);
  if (error->empty())
    *error = checkBuckets(p, bucketCount);
  if (error->empty())
    *error = checkDeal("cached_attention", p.deal, p.places,
                       args[TSR_CACHED_ATTENTION_START]);
  if (error->empty())
    *error = checkRows("cached_attention", p.lanes, p.rows, p.slots, p.slotOf,
                       p.positionOf);
  if (!error->empty())
    return TSR_INVALID_ARGUMENT;
  const std::vector<int32_t> buckets = bucketsOf(p, bucketCount);
  p.bucketOf = buckets.data();
  const CpuKernels &kernels = cpuKernels();
  const std::vector<int64_t> begins = shareUnits(p, threads);
  const auto parts = static_cast<int>(begins.size()) - 1;
  const size_t bytes =
      (kernels.cachedAttentionScratch[p.dtype](p) + 63) / 64 * 64;
  thread_local Workspace workspace;
  char *scratch = static_cast<char *>(workspace.reserve(bytes * parts));
  if (!scratch) {
    *error = "cached_attention: no memory for " +
             std::to_string(bytes * parts) + " bytes";
    return TSR_OUT_OF_MEMORY;
  }
  inParallel(parts, [&](int part) {
    for (int64_t unit = begins[part]; unit < begins[part + 1]; ++unit)
      kernels.cachedAttention[p.dtype](p, {unit / p.kvHeads, unit % p.kvHeads},
                                       scratch + bytes * part);
  });
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("cached_attention: ") + failure.what();
  return TSR_INTERNAL;
}
