//===- ArenaLayoutTest.cpp - offsets of buffers in one arena --------------===//

#include "lib/Memory/ArenaLayout.h"
#include <gtest/gtest.h>
#include <random>

using namespace tessera::rt;

namespace {

bool overlap(int64_t begin, int64_t end, int64_t from, int64_t to) {
  return begin <= to && from <= end;
}

/// Mostly short ones, as the values of a task, and some that live long.
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

/// What dies leaves its memory to what comes.
TEST(ArenaLayout, ShortOnesShareMemory) {
  std::vector<Extent> extents;
  for (int64_t i = 0; i < 20000; ++i)
    extents.push_back({1024, 2 * i, 2 * i + 1});
  extents.push_back({4096, 0, 39999});
  EXPECT_EQ(assignOffsets(extents), 5120);
}

} // namespace
