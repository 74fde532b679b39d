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

/// Returns the bucket of each distance that occurs.
static std::vector<int32_t> bucketsOf(const CacheProblem &p) {
  std::vector<int32_t> found;
  const PositionBuckets of{p.buckets, p.maxDistance, /*causal=*/true};
  for (int64_t distance = 0; p.buckets > 0 && distance <= p.maxDistance;
       ++distance)
    found.push_back(static_cast<int32_t>(of.at(distance)));
  return found;
}

static std::vector<CacheGroup> groupRows(const CacheProblem &p) {
  const int64_t most = std::max<int64_t>(kCacheQueries / p.group(), 1);
  auto follows = [&](int64_t row) {
    return row % p.rows != 0 && p.isLive(row) &&
           p.slotOf[row] == p.slotOf[row - 1] &&
           p.positionOf[row] == p.positionOf[row - 1] + 1;
  };
  std::vector<CacheGroup> groups;
  for (int64_t row = 0; row < p.lanes * p.rows; ++row)
    if (!groups.empty() && groups.back().rows < most && follows(row))
      ++groups.back().rows;
    else
      groups.push_back({row, 1});
  return groups;
}

namespace {

/// The work of a call, in the order in which it is dealt out: groups of rows,
/// their splits, key heads. Each thread gets about as many positions.
class SharedWork {
public:
  SharedWork(const CacheProblem &p, int threads)
      : p(p), groups(groupRows(p)), begins{0} {
    for (const CacheGroup &group : groups)
      begins.push_back(begins.back() + p.kvHeads * costOf(group));
    // A thread that reads less than this costs more than it gives.
    constexpr int64_t least = 4096;
    pieces.resize(
        std::clamp<int64_t>(begins.back() * p.group() * p.headDim / least, 1,
                            std::max(threads, 1)));
    for (size_t k = 0; k < groups.size(); ++k)
      share(groups[k], begins[k]);
  }

  /// A group of which several threads have a part, and where in the memory of
  /// partial means its own begin.
  struct Cut {
    CacheGroup group;
    int64_t partials;
  };

  std::vector<std::vector<CachePiece>> pieces; ///< The pieces of each thread.
  std::vector<Cut> cuts;
  int64_t partials = 0; ///< Numbers that the pieces of cut groups leave.

private:
  int64_t splitCost(const CacheGroup &group, int64_t split) const {
    const int64_t last = group.row + group.rows - 1;
    const int64_t begin = std::max(p.firstOf(group.row), split * kCacheSplit);
    const int64_t end = std::min(p.endOf(last), (split + 1) * kCacheSplit);
    return group.rows * std::max<int64_t>(end - begin, 0);
  }

  /// Estimates the cost of a group for one key head.
  int64_t costOf(const CacheGroup &group) const {
    int64_t cost = 1;
    for (int64_t split = p.splitBegin(group); split < p.splitEnd(group);
         ++split)
      cost += splitCost(group, split);
    return cost;
  }

  /// Returns the thread whose share begins here.
  size_t threadAt(int64_t begin) const {
    return size_t(begin * int64_t(pieces.size()) / begins.back());
  }

  void share(const CacheGroup &group, int64_t begin) {
    const int64_t first = p.splitBegin(group), end = p.splitEnd(group);
    const size_t thread = threadAt(begin);
    if (first >= end ||
        thread == threadAt(begin + p.kvHeads * costOf(group) - 1)) {
      pieces[thread].push_back({group, 0, p.kvHeads, first, end, -1});
      return;
    }
    if (first + 1 == end)
      return shareSplit(group, first, begin, -1);
    cuts.push_back({group, partials});
    for (int64_t split = first; split < end; ++split) {
      shareSplit(group, split, begin, partials);
      begin += p.kvHeads * splitCost(group, split);
      partials += p.partialSize(group);
    }
  }

  /// Each thread gets some key heads.
  void shareSplit(const CacheGroup &group, int64_t split, int64_t begin,
                  int64_t partials) {
    const int64_t cost = splitCost(group, split);
    for (int64_t head = 0, next = 0; head < p.kvHeads; head = next) {
      const size_t thread = threadAt(begin + head * cost);
      while (next < p.kvHeads && threadAt(begin + next * cost) == thread)
        ++next;
      pieces[thread].push_back({group, head, next, split, split + 1, partials});
    }
  }

  const CacheProblem &p;
  std::vector<CacheGroup> groups;
  /// The begins of groups, and the end of the last.
  std::vector<int64_t> begins;
};

} // namespace

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
  const SharedWork work(p, threads);
  const auto parts = static_cast<int>(work.pieces.size());
  const size_t bytes =
      (kernels.cachedAttentionScratch[p.dtype](p) + 63) / 64 * 64;
  const size_t all = bytes * parts + work.partials * p.sumBytes();
  thread_local Workspace workspace;
  char *scratch = static_cast<char *>(workspace.reserve(all));
  if (!scratch) {
    *error =
        "cached_attention: no memory for " + std::to_string(all) + " bytes";
    return TSR_OUT_OF_MEMORY;
  }
  p.partials = scratch + bytes * parts;
  inParallel(parts, [&](int part) {
    for (const CachePiece &piece : work.pieces[part])
      kernels.cachedAttention[p.dtype](p, piece, scratch + bytes * part);
  });
  for (const SharedWork::Cut &cut : work.cuts)
    kernels.cachedAttentionMerge[p.dtype](p, cut.group, cut.partials, scratch);
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("cached_attention: ") + failure.what();
  return TSR_INTERNAL;
}
