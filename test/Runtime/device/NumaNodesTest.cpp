//===- NumaNodesTest.cpp - how processes share a machine's cores ----------===//
#include "runtime/device/NumaNodes.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

using namespace tessera;

namespace {

std::vector<int> coresFrom(int first, int count) {
  std::vector<int> cores(static_cast<size_t>(count));
  std::iota(cores.begin(), cores.end(), first);
  return cores;
}

TEST(NumaNodes, ListsAreRead) {
  EXPECT_EQ(readCpuList("0-3,8,10-11\n"),
            (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(readCpuList("5"), std::vector<int>{5});
  for (const char *none : {"", "\n", "x", "-1", "3-1"})
    EXPECT_EQ(readCpuList(none), std::vector<int>{}) << none;
}

/// Memory alone is a node without cores, and a container may have some of them.
TEST(NumaNodes, AllowedCoresAreGroupedByTheSystemsNodes) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "numa-nodes";
  const std::vector<std::pair<const char *, const char *>> lists = {
      {"node0", "0-3,16-19"},
      {"node1", "4-7,20-23"},
      {"node2", ""},
      {"node10", "8-11"}};
  for (const auto &[node, list] : lists) {
    std::filesystem::create_directories(folder / node);
    std::ofstream(folder / node / "cpulist") << list << "\n";
  }
  std::ofstream(folder / "online") << "0-2,10\n";
  EXPECT_EQ(numaNodesOf({0, 1, 4, 5, 16, 30}, folder),
            (NumaNodes{{0, 1, 16}, {4, 5}, {30}}));
  EXPECT_EQ(numaNodesOf({4, 9}, folder), (NumaNodes{{4}, {9}}));
  EXPECT_EQ(numaNodesOf({3, 4}, folder / "none"), (NumaNodes{{3, 4}}));
  std::filesystem::remove_all(folder);
}

TEST(NumaNodes, ProcessHasCoresOfOneNode) {
  const NumaNodes two = {coresFrom(0, 8), coresFrom(8, 8)};
  EXPECT_EQ(shareOfCores(two, 2, 1), coresFrom(8, 8));
  EXPECT_EQ(shareOfCores(two, 4, 1), coresFrom(4, 4));
  EXPECT_EQ(shareOfCores(two, 4, 2), coresFrom(8, 4));
  // Two on the one node, one on the other.
  EXPECT_EQ(shareOfCores(two, 3, 0).size() + shareOfCores(two, 3, 1).size() +
                shareOfCores(two, 3, 2).size(),
            16u);
  // A node that is larger has more processes.
  const NumaNodes uneven = {coresFrom(0, 12), coresFrom(12, 4)};
  EXPECT_EQ(shareOfCores(uneven, 4, 2), coresFrom(8, 4));
  EXPECT_EQ(shareOfCores(uneven, 4, 3), coresFrom(12, 4));
  // Fewer processes than nodes.
  const NumaNodes four = {coresFrom(0, 2), coresFrom(2, 2), coresFrom(4, 2),
                          coresFrom(6, 2)};
  EXPECT_EQ(shareOfCores(four, 2, 1), coresFrom(4, 4));
  EXPECT_EQ(shareOfCores({coresFrom(0, 3)}, 1, 0), coresFrom(0, 3));
}

/// Each core has one process, and each process a core.
TEST(NumaNodes, SharesAreAPartition) {
  for (const NumaNodes &nodes :
       {NumaNodes{coresFrom(0, 7)}, NumaNodes{coresFrom(0, 5), coresFrom(5, 2)},
        NumaNodes{coresFrom(0, 1), coresFrom(1, 3), coresFrom(4, 3)}})
    for (int64_t processes = 1; processes <= 7; ++processes) {
      std::vector<int> all;
      for (int64_t process = 0; process < processes; ++process) {
        const std::vector<int> share = shareOfCores(nodes, processes, process);
        EXPECT_FALSE(share.empty()) << process << " of " << processes;
        all.insert(all.end(), share.begin(), share.end());
      }
      EXPECT_EQ(all, coresFrom(0, 7)) << processes;
    }
}
} // namespace
