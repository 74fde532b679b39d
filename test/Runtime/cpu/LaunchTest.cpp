//===- LaunchTest.cpp - Ranges of fused kernels ---------------------------===//

#include "runtime/cpu/CpuEntries.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

using namespace tessera;

namespace {
using Range = std::pair<int64_t, int64_t>;
struct Log {
  std::mutex mutex;
  std::vector<Range> ranges;
  int64_t scalar = 0;
};
} // namespace

extern "C" void recordRange(void *const *buffers, const int64_t *scalars,
                            int64_t begin, int64_t end) {
  auto *log = static_cast<Log *>(buffers[0]);
  std::lock_guard<std::mutex> lock(log->mutex);
  log->ranges.emplace_back(begin, end);
  log->scalar = scalars[0];
}

static std::vector<Range> rangesOf(int threads, int64_t count, int64_t grain) {
  Log log;
  void *buffers[] = {&log};
  const int64_t scalars[] = {42};
  cpuLaunch(threads, recordRange, buffers, scalars, count, grain);
  EXPECT_EQ(log.scalar, count > 0 ? 42 : 0);
  std::sort(log.ranges.begin(), log.ranges.end());
  return log.ranges;
}

TEST(Launch, RangesCoverAllOnceInGrains) {
  for (int threads : {1, 2, 3, 8})
    for (int64_t count : {1, 7, 64, 1000, 1023})
      for (int64_t grain : {1, 4, 16, 64, 5000}) {
        const std::vector<Range> ranges = rangesOf(threads, count, grain);
        ASSERT_LE(ranges.size(), size_t(threads));
        int64_t next = 0;
        for (const Range &r : ranges) {
          EXPECT_EQ(r.first, next);
          EXPECT_EQ(r.first % grain, 0);
          EXPECT_LT(r.first, r.second);
          next = r.second;
        }
        EXPECT_EQ(next, count);
      }
}

TEST(Launch, UsesAllThreads) {
  EXPECT_EQ(rangesOf(2, 64, 16).size(), 2u);
  EXPECT_EQ(rangesOf(4, 64, 16).size(), 4u);
  EXPECT_EQ(rangesOf(2, 16, 16).size(), 1u);
}

TEST(Launch, NothingToDo) { EXPECT_TRUE(rangesOf(2, 0, 1).empty()); }

/// Rank threads launch at once, each with its own team.
TEST(Launch, SeveralRanksAtOnce) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.emplace_back([rank] {
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(rangesOf(1 + rank % 3, 96, 8).back().second, 96);
    });
  for (std::thread &rank : ranks)
    rank.join();
}
