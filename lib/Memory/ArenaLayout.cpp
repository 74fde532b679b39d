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
    if (chunk->size() < kMost)
      return;
    Chunk upper(chunk->begin() + kMost / 2, chunk->end());
    chunk->resize(kMost / 2);
    chunks.insert(chunk + 1, std::move(upper));
  }

  /// Returns the offset of the tightest gap of at least `bytes` between what
  /// overlaps with an extent in time; after all that if there is none.
  int64_t bestFit(const Extent &with, int64_t bytes) const {
    int64_t best = -1, bestGap = INT64_MAX, top = 0;
    for (const Chunk &chunk : chunks)
      for (const Placed &placed : chunk) {
        bool overlaps = (placed.begin <= with.end) & (placed.end >= with.begin);
        int64_t gap = overlaps ? placed.offset - top : -1;
        if (gap >= bytes && gap < bestGap) {
          best = top;
          bestGap = gap;
        }
        top = std::max(top, overlaps ? placed.top : 0);
      }
    return best < 0 ? top : best;
  }

private:
  struct Placed {
    int64_t begin, end, offset, top;
  };
  /// A chunk is not empty, and so short that inserting into it is cheap.
  using Chunk = std::vector<Placed>;
  static constexpr size_t kMost = 128;
  std::vector<Chunk> chunks;
};

/// Placed extents by the windows of time that they overlap with. Most extents
/// are short, so that few others are looked at to place one. The windows of a
/// level are twice as long as those of the level before, and each begins in the
/// middle of another, so that some window of the right length holds any extent.
class PlacedByTime {
public:
  /// For `extents` that are placed one after the other.
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
    for (const Extent &extent : extents)
      ++windowOf(extent).toPlace;
  }

  /// A window is no longer filled when all that it is asked for are placed.
  void add(const Extent &extent, int64_t bytes) {
    int64_t size = half;
    for (std::vector<Window> &windows : levels) {
      for (int64_t k = std::max<int64_t>(extent.begin / size - 1, 0);
           k <= extent.end / size; ++k)
        if (windows[k].toPlace)
          windows[k].placed.add(extent, bytes);
      size *= 2;
    }
  }

  /// Returns the offset where an extent fits best. Each is asked for once.
  int64_t bestFit(const Extent &extent, int64_t bytes) {
    Window &window = windowOf(extent);
    --window.toPlace;
    return window.placed.bestFit(extent, bytes);
  }

private:
  struct Window {
    PlacedExtents placed;
    int64_t toPlace = 0; ///< Extents that it has yet to be asked for.
  };

  /// Returns the shortest that holds the extent.
  Window &windowOf(const Extent &extent) {
    int64_t size = half;
    for (std::vector<Window> &windows : levels) {
      int64_t first = extent.begin / size;
      if (extent.end < (first + 2) * size)
        return windows[first];
      size *= 2;
    }
    llvm_unreachable("a window of the last level holds every extent");
  }

  int64_t half; ///< The shortest windows are twice as long.
  /// Windows by length; window k begins at k times half of that.
  std::vector<std::vector<Window>> levels;
};

/// Places extents in a given order. It can stop, and go on later.
class Layout {
public:
  Layout(ArrayRef<Extent> extents, ArrayRef<Extent> fixed,
         ArrayRef<unsigned> order)
      : extents(extents), order(order), placed(extents, fixed) {
    for (const Extent &extent : fixed) {
      placed.add(extent, llvm::alignTo(extent.bytes, kAlignment));
      total = std::max(total, extent.offset + extent.bytes);
    }
  }

  /// Stops once more than `most` bytes are in use; returns whether all is
  /// placed in them.
  bool placeWithin(int64_t most) {
    for (; next < order.size() && total <= most; ++next) {
      Extent &extent = extents[order[next]];
      int64_t bytes = paddedBytes(extent);
      extent.offset = placed.bestFit(extent, bytes);
      placed.add(extent, bytes);
      total = std::max(total, extent.offset + bytes);
    }
    return total <= most;
  }

  int64_t bytes() const { return total; }
  ArrayRef<Extent> result() const { return extents; }

private:
  std::vector<Extent> extents;
  std::vector<unsigned> order;
  PlacedByTime placed;
  size_t next = 0; ///< In the order.
  int64_t total = 0;
};

} // namespace

Peak tessera::rt::findPeak(ArrayRef<Extent> extents) {
  if (extents.empty())
    return {};
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Extent &extent : extents) {
    first = std::min(first, extent.begin);
    last = std::max(last, extent.end);
  }
  // The bytes that begin at a position, less those that ended right before it.
  std::vector<int64_t> change(last - first + 2);
  for (const Extent &extent : extents) {
    change[extent.begin - first] += paddedBytes(extent);
    change[extent.end + 1 - first] -= paddedBytes(extent);
  }
  Peak peak;
  int64_t live = 0;
  for (auto [position, bytes] : llvm::enumerate(change)) {
    live += bytes;
    if (live > peak.bytes)
      peak = {live, first + static_cast<int64_t>(position)};
  }
  return peak;
}

int64_t tessera::rt::assignOffsets(MutableArrayRef<Extent> extents,
                                   ArrayRef<Extent> fixed) {
  Peak peak = findPeak(extents);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
  auto lifetime = [&](unsigned k) { return extents[k].end - extents[k].begin; };
  std::vector<Layout> tried;
  // Returns whether the order reaches the peak, which no other can better. An
  // order that needs more is abandoned where it does, as another may not.
  auto reachesPeak = [&](auto key) {
    llvm::stable_sort(order,
                      [&](unsigned a, unsigned b) { return key(a) < key(b); });
    tried.emplace_back(extents, fixed, order);
    return tried.back().placeWithin(peak.bytes);
  };
  auto bySize = [&](unsigned k) {
    return std::tuple(-extents[k].bytes, -lifetime(k), extents[k].begin);
  };
  // Extents are sorted by size. Among equal sizes, which frames of
  // micro-batches have, the earliest comes first: no more places are taken than
  // are needed at once.
  auto bySizeAndTime = [&](unsigned k) {
    return std::pair(-extents[k].bytes, extents[k].begin);
  };
  // The extents that are live at the peak come first, without gaps; the rest
  // fits around them.
  auto byPeak = [&](unsigned k) {
    bool misses =
        extents[k].begin > peak.position || extents[k].end < peak.position;
    return std::tuple(misses, -lifetime(k), -extents[k].bytes);
  };
  const Layout *best = nullptr;
  if (reachesPeak(bySize) || reachesPeak(bySizeAndTime) || reachesPeak(byPeak))
    best = &tried.back();
  else
    for (Layout &layout : tried)
      if (layout.placeWithin(best ? best->bytes() - 1 : INT64_MAX))
        best = &layout;
  llvm::copy(best->result(), extents.begin());
  return best->bytes();
}
