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

int32_t tessera::cpuAppend(int, void *const *buffers, const int64_t *args,
                           std::string *error) try {
  AppendProblem p;
  if (int32_t status = decodeAppend(args, buffers, &p, error))
    return status;
  *error =
      checkRows("append", p.lanes, p.rows, p.slots, p.slotOf, p.positionOf);
  if (!error->empty())
    return TSR_INVALID_ARGUMENT;
  const int64_t bytes = p.columns * p.elementBytes();
  const int64_t stride = p.row * p.elementBytes();
  char *cache = static_cast<char *>(p.cache);
  const char *from = static_cast<const char *>(p.from);
  for (int64_t row = 0; row < p.lanes * p.rows; ++row) {
    if (p.slotOf[row] < 0 || p.positionOf[row] % p.deal != p.ordinal)
      continue;
    const int64_t slot = row / p.rows * p.slots + p.slotOf[row];
    const int64_t place =
        slot * p.places + p.positionOf[row] / p.deal % p.places;
    std::memcpy(cache + place * bytes, from + row * stride, bytes);
  }
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("append: ") + failure.what();
  return TSR_INTERNAL;
}

/// Of each distance that occurs.
static std::vector<int32_t> bucketsOf(const CacheProblem &p) {
  std::vector<int32_t> found;
  const PositionBuckets of{p.buckets, p.maxDistance, /*causal=*/true};
  for (int64_t distance = 0; p.buckets > 0 && distance <= p.maxDistance;
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
  CacheProblem p;
  if (int32_t status = decodeCachedAttention(args, buffers, &p, error))
    return status;
  *error = checkRows("cached_attention", p.lanes, p.rows, p.slots, p.slotOf,
                     p.positionOf);
  if (!error->empty())
    return TSR_INVALID_ARGUMENT;
  const std::vector<int32_t> buckets = bucketsOf(p);
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
