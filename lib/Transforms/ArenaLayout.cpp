//===- ArenaLayout.cpp - offsets of buffers in one arena ------------------===//

#include "tessera/Transforms/ArenaLayout.h"
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

/// Finds the extents that overlap one in time: sorted by begin, with the
/// largest end of every block of a fixed size.
class TimeIndex {
public:
  explicit TimeIndex(ArrayRef<Extent> extents) : extents(extents) {
    order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(extents[a].begin, a) < std::pair(extents[b].begin, b);
    });
    for (unsigned k = 0; k < order.size(); ++k) {
      if (k % kBlock == 0)
        blockEnds.push_back(extents[order[k]].end);
      blockEnds.back() = std::max(blockEnds.back(), extents[order[k]].end);
    }
  }

  template <typename Fn> void forEachOverlap(const Extent &with, Fn fn) const {
    for (unsigned block = 0; block < blockEnds.size(); ++block) {
      unsigned first = block * kBlock;
      if (extents[order[first]].begin > with.end)
        return;
      if (blockEnds[block] < with.begin)
        continue;
      unsigned last = std::min<size_t>(first + kBlock, order.size());
      for (unsigned k = first; k < last; ++k) {
        const Extent &extent = extents[order[k]];
        if (extent.begin <= with.end && extent.end >= with.begin)
          fn(order[k]);
      }
    }
  }

private:
  static constexpr unsigned kBlock = 32;
  ArrayRef<Extent> extents;
  SmallVector<unsigned> order;
  SmallVector<int64_t> blockEnds;
};

/// The offset of the tightest gap of at least `bytes` between taken ranges,
/// which are sorted; behind them if there is none.
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

/// Extents that have an offset, in the order of offsets.
class PlacedExtents {
public:
  PlacedExtents(ArrayRef<Extent> extents, const TimeIndex &index)
      : extents(extents), index(index), state(extents.size(), Nowhere) {}

  void add(unsigned number) {
    auto isBelow = [&](unsigned a, unsigned b) {
      return extents[a].offset < extents[b].offset;
    };
    byOffset.insert(llvm::upper_bound(byOffset, number, isBelow), number);
    state[number] = Placed;
  }

  /// The memory, from the bottom, of what overlaps with an extent in time.
  ArrayRef<std::pair<int64_t, int64_t>> takenDuring(const Extent &with) {
    found.clear();
    taken.clear();
    index.forEachOverlap(with, [&](unsigned other) {
      if (state[other] == Placed)
        found.push_back(other);
    });
    // Few are sorted; of many the order is known.
    constexpr size_t kFew = 8;
    if (found.size() * kFew > byOffset.size()) {
      for (unsigned other : found)
        state[other] = Overlaps;
      found.clear();
      llvm::copy_if(byOffset, std::back_inserter(found),
                    [&](unsigned other) { return state[other] == Overlaps; });
      for (unsigned other : found)
        state[other] = Placed;
    } else {
      llvm::sort(found, [&](unsigned a, unsigned b) {
        return extents[a].offset < extents[b].offset;
      });
    }
    for (unsigned other : found)
      taken.push_back({extents[other].offset,
                       extents[other].offset + paddedBytes(extents[other])});
    return taken;
  }

private:
  enum State : uint8_t { Nowhere, Placed, Overlaps };
  ArrayRef<Extent> extents;
  const TimeIndex &index;
  std::vector<uint8_t> state;
  std::vector<unsigned> byOffset;
  SmallVector<unsigned> found;
  SmallVector<std::pair<int64_t, int64_t>> taken;
};

int64_t place(MutableArrayRef<Extent> extents, const TimeIndex &index,
              ArrayRef<unsigned> order) {
  PlacedExtents placed(extents, index);
  int64_t total = 0;
  for (unsigned k : order) {
    int64_t bytes = paddedBytes(extents[k]);
    extents[k].offset = bestFit(placed.takenDuring(extents[k]), bytes);
    placed.add(k);
    total = std::max(total, extents[k].offset + bytes);
  }
  return total;
}

} // namespace

Peak tessera::rt::findPeak(ArrayRef<Extent> extents) {
  // (position, bytes): what ends at a position is freed behind it.
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

int64_t tessera::rt::assignOffsets(MutableArrayRef<Extent> extents) {
  Peak peak = findPeak(extents);
  TimeIndex index(extents);
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
  auto sortBy = [&](auto key) {
    llvm::stable_sort(order,
                      [&](unsigned a, unsigned b) { return key(a) < key(b); });
  };
  auto lifetime = [&](unsigned k) { return extents[k].end - extents[k].begin; };
  sortBy([&](unsigned k) {
    return std::tuple(-extents[k].bytes, -lifetime(k), extents[k].begin);
  });
  int64_t bySize = place(extents, index, order);
  if (bySize == peak.bytes)
    return bySize;
  // What is live at the peak, without gaps; the rest fits around it.
  SmallVector<Extent> other(extents.begin(), extents.end());
  sortBy([&](unsigned k) {
    bool misses =
        extents[k].begin > peak.position || extents[k].end < peak.position;
    return std::tuple(misses, -lifetime(k), -extents[k].bytes);
  });
  int64_t byPeak = place(other, index, order);
  if (byPeak >= bySize)
    return bySize;
  llvm::copy(other, extents.begin());
  return byPeak;
}
