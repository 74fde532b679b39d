#include "runtime/support/ThreadTeam.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace tessera;

TEST(ThreadTeam, EveryPartRunsOnce) {
  for (int parts : {0, 1, 2, 3, 7, 2}) {
    std::vector<std::atomic<int>> runs(parts);
    inParallel(parts, [&](int part) { ++runs[part]; });
    for (int part = 0; part < parts; ++part)
      EXPECT_EQ(runs[part], 1) << "part " << part << " of " << parts;
  }
}

TEST(ThreadTeam, PartsRunAtTheSameTimeOnThreadsOfTheirOwn) {
  constexpr int parts = 4;
  std::atomic<int> inside{0};
  std::vector<std::thread::id> threads(parts);
  inParallel(parts, [&](int part) {
    threads[part] = std::this_thread::get_id();
    // Nobody leaves before all are here: hangs if parts run one by one.
    ++inside;
    while (inside < parts)
      std::this_thread::yield();
  });
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(),
            size_t(parts));
}

TEST(ThreadTeam, ResultsAreVisibleAfterEveryOneOfManyRegions) {
  std::vector<int64_t> sums(3, 0);
  for (int64_t round = 1; round <= 20000; ++round) {
    inParallel(3, [&](int part) { sums[part] += part + 1; });
    ASSERT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t(0)), 6 * round);
  }
}

TEST(ThreadTeam, WorkersThatFellAsleepWakeUp) {
  std::atomic<int> runs{0};
  for (int round = 0; round < 3; ++round) {
    inParallel(2, [&](int) { ++runs; });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // The caller sleeps here until a slow part is done.
  inParallel(2, [&](int part) {
    if (part == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++runs;
  });
  EXPECT_EQ(runs, 8);
}

TEST(ThreadTeam, CallersHaveTeamsOfTheirOwn) {
  constexpr int callers = 4;
  std::vector<int64_t> counts(callers, 0);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      std::atomic<int64_t> count{0};
      for (int round = 0; round < 500; ++round)
        inParallel(3, [&](int) { ++count; });
      counts[caller] = count;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(counts, std::vector<int64_t>(callers, 1500));
}

TEST(ThreadTeam, WhatAPartThrowsReachesTheCaller) {
  for (int bad = 0; bad < 3; ++bad) {
    std::atomic<int> others{0};
    auto run = [&] {
      inParallel(3, [&](int part) {
        if (part == bad)
          throw std::runtime_error("part");
        ++others;
      });
    };
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_EQ(others, 2);
  }
}
