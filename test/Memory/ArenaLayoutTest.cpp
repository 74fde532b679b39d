//===- ArenaLayoutTest.cpp - offsets of buffers in one arena --------------===//

#include "lib/Memory/ArenaLayout.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace tessera::rt;

namespace {

bool overlap(int64_t begin, int64_t end, int64_t from, int64_t to) {
  return begin <= to && from <= end;
}

/// Makes extents that are mostly short, like the values of a task, and some
/// that live long.
std::vector<Extent> extentsOf(unsigned seed, size_t count, int64_t positions) {
  std::mt19937 random(seed);
  std::vector<Extent> extents;
  for (size_t i = 0; i < count; ++i) {
    int64_t longest = random() % 8 ? 5 : positions;
    int64_t begin = static_cast<int64_t>(random() % positions);
    int64_t end = begin + static_cast<int64_t>(random() % longest);
    extents.push_back({static_cast<int64_t>(random() % 5000), begin,
                       std::min(end, positions - 1)});
  }
  return extents;
}

TEST(ArenaLayout, WhatIsNeededAtATimeIsApart) {
  for (auto [count, positions] : {std::pair(1, 1),
                                  {30, 1},
                                  {300, 63},
                                  {300, 64},
                                  {300, 129},
                                  {1000, 8192},
                                  {1000, 8193},
                                  {1000, 100000}}) {
    std::vector<Extent> extents = extentsOf(count, count, positions);
    int64_t total = assignOffsets(extents);
    EXPECT_GE(total, findPeak(extents).bytes);
    for (size_t i = 0; i < extents.size(); ++i) {
      const Extent &a = extents[i];
      ASSERT_GE(a.offset, 0);
      ASSERT_LE(a.offset + a.bytes, total);
      for (size_t k = 0; k < i; ++k) {
        const Extent &b = extents[k];
        if (a.bytes && b.bytes && overlap(a.begin, a.end, b.begin, b.end))
          ASSERT_FALSE(overlap(a.offset, a.offset + a.bytes - 1, b.offset,
                               b.offset + b.bytes - 1))
              << i << " and " << k << " of " << count;
      }
    }
  }
}

TEST(ArenaLayout, NothingTakesNothing) {
  std::vector<Extent> none;
  EXPECT_EQ(assignOffsets(none), 0);
}

/// Extents that die leave their memory to those that come.
TEST(ArenaLayout, ShortOnesShareMemory) {
  std::vector<Extent> extents;
  for (int64_t i = 0; i < 20000; ++i)
    extents.push_back({1024, 2 * i, 2 * i + 1});
  extents.push_back({4096, 0, 39999});
  EXPECT_EQ(assignOffsets(extents), 5120);
}

/// Each has one order of placing that needs the least memory; the best of the
/// orders is kept, also where none reaches the peak.
TEST(ArenaLayout, TheBestOrderIsTaken) {
  struct {
    std::vector<Extent> extents;
    int64_t bytes;
  } cases[] = {
      // Large ones, of these the long ones first.
      {{{64, 4, 6}, {256, 6, 6}, {192, 0, 2}, {192, 1, 4}}, 384},
      // The early ones among equals come first.
      {{{64, 2, 3}, {64, 4, 6}, {64, 0, 2}, {64, 3, 4}}, 128},
      // Those of the peak first.
      {{{192, 2, 6}, {192, 5, 5}, {256, 2, 4}, {128, 5, 6}}, 512},
      // The second; the peak is 448 bytes.
      {{{128, 2, 5}, {128, 1, 3}, {192, 2, 2}, {64, 3, 6}, {256, 5, 6}}, 512}};
  for (auto &each : cases) {
    EXPECT_EQ(assignOffsets(each.extents), each.bytes);
    int64_t top = 0;
    for (const Extent &extent : each.extents)
      top = std::max(top, extent.offset + extent.bytes);
    EXPECT_EQ(top, each.bytes);
  }
}

} // namespace
