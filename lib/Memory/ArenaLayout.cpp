//===- ArenaLayout.cpp - offsets of buffers in one arena ------------------===//

#include "lib/Memory/ArenaLayout.h"
#include "tessera/Dialect/RT/RT.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tessera::rt;
using llvm::ArrayRef;
using llvm::MutableArrayRef;
using llvm::SmallVector;

namespace {

int64_t paddedBytes(const Extent &extent) {
  return llvm::alignTo(std::max<int64_t>(extent.bytes, 1), kAlignment);
}

/// The offset of the tightest gap of at least `bytes` between taken ranges,
/// which are sorted; after them if there is none.
int64_t bestFit(ArrayRef<std::pair<int64_t, int64_t>> taken, int64_t bytes) {
  int64_t best = -1, bestGap = 0, top = 0;
  for (auto [begin, end] : taken) {
    int64_t gap = begin - top;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = top;
      bestGap = gap;
    }
    top = std::max(top, end);
  }
  return best < 0 ? top : best;
}

/// Extents that have an offset, in the order of offsets. A search is a pass
/// over memory without branches.
class PlacedExtents {
public:
  void add(const Extent &extent, int64_t bytes) {
    auto isBelow = [](int64_t offset, const auto &placed) {
      return offset < placed.offset;
    };
    auto isBelowAll = [&](int64_t offset, const Chunk &chunk) {
      return isBelow(offset, chunk.front());
    };
    auto chunk = llvm::upper_bound(chunks, extent.offset, isBelowAll);
    if (chunk != chunks.begin())
      --chunk;
    if (chunks.empty())
      chunk = chunks.insert(chunk, Chunk());
    chunk->insert(
        llvm::upper_bound(*chunk, extent.offset, isBelow),
        {extent.begin, extent.end, extent.offset, extent.offset + bytes});
    ++count;
    if (chunk->size() < kMost)
      return;
    Chunk upper(chunk->begin() + kMost / 2, chunk->end());
    chunk->resize(kMost / 2);
    chunks.insert(chunk + 1, std::move(upper));
  }

  /// Writes the memory, from the bottom, of what overlaps with an extent in
  /// time; returns how many ranges that are.
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  size_t findTaken(const Extent &with, Ranges &taken) const {
    taken.resize(std::max(taken.size(), count));
    size_t found = 0;
    for (const Chunk &chunk : chunks)
      for (const Placed &placed : chunk) {
        taken[found] = {placed.offset, placed.top};
        found += (placed.begin <= with.end) & (placed.end >= with.begin);
      }
    return found;
  }

private:
  struct Placed {
    int64_t begin, end, offset, top;
  };
  /// A chunk is not empty, and so short that inserting into it is cheap.
  using Chunk = std::vector<Placed>;
  static constexpr size_t kMost = 128;
  std::vector<Chunk> chunks;
  size_t count = 0;
};

/// Placed extents by the windows of time that they overlap with. Most extents
/// are short, so that few others are looked at to place one. The windows of a
/// level are twice as long as those of the level before, and each begins in the
/// middle of another, so that some window of the right length holds any extent.
class PlacedByTime {
public:
  PlacedByTime(ArrayRef<Extent> extents, ArrayRef<Extent> fixed) {
    constexpr int64_t kShortest = 64, kFinest = 128;
    int64_t end = 0, sum = 0;
    for (ArrayRef<Extent> all : {extents, fixed})
      for (const Extent &extent : all) {
        end = std::max(end, extent.end + 1);
        sum += extent.end - extent.begin;
      }
    auto count = static_cast<int64_t>(extents.size() + fixed.size());
    int64_t mean = sum / std::max<int64_t>(count, 1);
    for (half = kShortest; half * kFinest < end || half < mean / 2;)
      half *= 2;
    for (int64_t size = half; levels.empty() || size < end; size *= 2)
      levels.emplace_back(end / size + 1);
  }

  void add(const Extent &extent, int64_t bytes) {
    int64_t size = half;
    for (std::vector<PlacedExtents> &windows : levels) {
      for (int64_t k = std::max<int64_t>(extent.begin / size - 1, 0);
           k <= extent.end / size; ++k)
        windows[k].add(extent, bytes);
      size *= 2;
    }
  }

  ArrayRef<std::pair<int64_t, int64_t>> takenDuring(const Extent &with) {
    int64_t size = half;
    for (std::vector<PlacedExtents> &windows : levels) {
      int64_t first = with.begin / size;
      if (with.end < (first + 2) * size) {
        size_t found = windows[first].findTaken(with, taken);
        return ArrayRef(taken).take_front(found);
      }
      size *= 2;
    }
    llvm_unreachable("a window of the last level holds every extent");
  }

private:
  int64_t half; ///< The shortest windows are twice as long.
  /// By length of windows; window k begins at k times half of that.
  std::vector<std::vector<PlacedExtents>> levels;
  PlacedExtents::Ranges taken;
};

int64_t place(MutableArrayRef<Extent> extents, ArrayRef<Extent> fixed,
              ArrayRef<unsigned> order) {
  PlacedByTime placed(extents, fixed);
  int64_t total = 0;
  for (const Extent &extent : fixed) {
    placed.add(extent, llvm::alignTo(extent.bytes, kAlignment));
    total = std::max(total, extent.offset + extent.bytes);
  }
  for (unsigned k : order) {
    int64_t bytes = paddedBytes(extents[k]);
    extents[k].offset = bestFit(placed.takenDuring(extents[k]), bytes);
    placed.add(extents[k], bytes);
    total = std::max(total, extents[k].offset + bytes);
  }
  return total;
}

} // namespace

Peak tessera::rt::findPeak(ArrayRef<Extent> extents) {
  // (position, bytes): what ends at a position is freed after it.
  SmallVector<std::pair<int64_t, int64_t>> events;
  for (const Extent &extent : extents) {
    events.push_back({extent.begin, paddedBytes(extent)});
    events.push_back({extent.end + 1, -paddedBytes(extent)});
  }
  llvm::sort(events);
  Peak peak;
  int64_t live = 0;
  for (auto [position, bytes] : events) {
    live += bytes;
    if (live > peak.bytes)
      peak = {live, position};
  }
  return peak;
}

int64_t tessera::rt::assignOffsets(MutableArrayRef<Extent> extents,
                                   ArrayRef<Extent> fixed) {
  Peak peak = findPeak(extents);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
  auto sortBy = [&](auto key) {
    llvm::stable_sort(order,
                      [&](unsigned a, unsigned b) { return key(a) < key(b); });
  };
  auto lifetime = [&](unsigned k) { return extents[k].end - extents[k].begin; };
  int64_t best = INT64_MAX;
  // Whether nothing better is to be had.
  auto tryOrder = [&] {
    SmallVector<Extent> placed(extents.begin(), extents.end());
    int64_t bytes = place(placed, fixed, order);
    if (bytes < best)
      llvm::copy(placed, extents.begin());
    best = std::min(best, bytes);
    return best == peak.bytes;
  };
  sortBy([&](unsigned k) {
    return std::tuple(-extents[k].bytes, -lifetime(k), extents[k].begin);
  });
  if (tryOrder())
    return best;
  // Of equal sizes, as frames of micro-batches are, the earliest first: no more
  // places are taken than are needed at once.
  sortBy([&](unsigned k) {
    return std::pair(-extents[k].bytes, extents[k].begin);
  });
  if (tryOrder())
    return best;
  // What is live at the peak, without gaps; the rest fits around it.
  sortBy([&](unsigned k) {
    bool misses =
        extents[k].begin > peak.position || extents[k].end < peak.position;
    return std::tuple(misses, -lifetime(k), -extents[k].bytes);
  });
  tryOrder();
  return best;
}
