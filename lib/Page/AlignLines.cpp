//===- AlignLines.cpp - which lines of a text were in another one ---------===//
// First lines that are the same, then, between these, versions of one line.
// Each time the shortest list of insertions and deletions is found as E. Myers
// does in "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1,
// 1986, section 3.
//===----------------------------------------------------------------------===//

#include "lib/Page/AlignLines.h"
#include <algorithm>

using namespace tessera;

namespace {

/// More insertions and deletions are not searched for: time and memory grow
/// with their square, and two texts that differ so much have little in common.
constexpr int64_t kMostEdits = 2500;

/// Part of both texts: lines from `begin` to before `end`.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

using Member = uint32_t LineKey::*;

class Alignment {
public:
  Alignment(const std::vector<LineKey> &before,
            const std::vector<LineKey> &after)
      : before(before), after(after), continued(after.size(), -1) {}

  void match(Range old, Range now, Member key);
  std::vector<int64_t> take() { return std::move(continued); }
  const std::vector<int64_t> &pairs() const { return continued; }

private:
  bool search(Range old, Range now, Member key);
  void walkBack(Range old, Range now, Member key);
  bool isSame(int64_t old, int64_t now, Member key) const {
    return before[old].*key == after[now].*key;
  }

  const std::vector<LineKey> &before, &after;
  std::vector<int64_t> continued;
  /// After each number of edits, how far each diagonal has come in the old
  /// text; diagonal k is at index k + edits.
  std::vector<std::vector<int64_t>> reached;
};

/// Returns the furthest point from the diagonals beside it after one edit less.
int64_t furthest(const std::vector<int64_t> &last, int64_t k, int64_t edits) {
  if (edits == 0)
    return 0;
  auto at = [&](int64_t other) { return last[other + edits - 1]; };
  bool isInsertion = k == -edits || (k != edits && at(k - 1) < at(k + 1));
  return isInsertion ? at(k + 1) : at(k - 1) + 1;
}

/// Returns whether `reached` leads from begin to end.
bool Alignment::search(Range old, Range now, Member key) {
  reached.clear();
  const int64_t most = std::min(kMostEdits, old.size() + now.size());
  for (int64_t edits = 0; edits <= most; ++edits) {
    std::vector<int64_t> next(2 * edits + 1, 0);
    for (int64_t k = -edits; k <= edits; k += 2) {
      int64_t x = furthest(edits ? reached.back() : next, k, edits);
      while (x < old.size() && x - k < now.size() && x - k >= 0 &&
             isSame(old.begin + x, now.begin + x - k, key))
        ++x;
      next[k + edits] = x;
      if (x >= old.size() && x - k >= now.size()) {
        reached.push_back(std::move(next));
        return true;
      }
    }
    reached.push_back(std::move(next));
  }
  return false;
}

/// Marks the equal lines on the way that `reached` describes.
void Alignment::walkBack(Range old, Range now, Member key) {
  int64_t x = old.size(), y = now.size();
  for (int64_t edits = static_cast<int64_t>(reached.size()) - 1; edits >= 0;
       --edits) {
    int64_t k = x - y, fromX = 0, fromY = 0;
    if (edits > 0) {
      const std::vector<int64_t> &last = reached[edits - 1];
      auto at = [&](int64_t other) { return last[other + edits - 1]; };
      bool isInsertion = k == -edits || (k != edits && at(k - 1) < at(k + 1));
      int64_t from = isInsertion ? k + 1 : k - 1;
      fromX = at(from);
      fromY = fromX - from;
    }
    while (x > fromX && y > fromY &&
           isSame(old.begin + x - 1, now.begin + y - 1, key)) {
      --x;
      --y;
      continued[now.begin + y] = old.begin + x;
    }
    x = fromX;
    y = fromY;
  }
}

void Alignment::match(Range old, Range now, Member key) {
  while (old.size() && now.size() && isSame(old.begin, now.begin, key))
    continued[now.begin++] = old.begin++;
  while (old.size() && now.size() && isSame(old.end - 1, now.end - 1, key))
    continued[--now.end] = --old.end;
  if (old.size() && now.size() && search(old, now, key))
    walkBack(old, now, key);
}

} // namespace

std::vector<int64_t> tessera::alignLines(const std::vector<LineKey> &before,
                                         const std::vector<LineKey> &after) {
  Alignment alignment(before, after);
  Range old{0, static_cast<int64_t>(before.size())};
  Range now{0, static_cast<int64_t>(after.size())};
  alignment.match(old, now, &LineKey::exact);
  const std::vector<int64_t> exact = alignment.pairs();
  Range gapOld{0, 0}, gapNow{0, 0};
  for (; gapNow.end <= now.end; ++gapNow.end) {
    bool isEnd = gapNow.end == now.end;
    if (!isEnd && exact[gapNow.end] < 0)
      continue;
    gapOld.end = isEnd ? old.end : exact[gapNow.end];
    alignment.match(gapOld, gapNow, &LineKey::loose);
    gapOld.begin = gapOld.end + 1;
    gapNow.begin = gapNow.end + 1;
  }
  return alignment.take();
}
