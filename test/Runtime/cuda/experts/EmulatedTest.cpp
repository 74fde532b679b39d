//===- EmulatedTest.cpp - The experts' own code, on a CPU -----------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cuda/experts/RoutedTable.h"
#include "test/Runtime/cuda/attention/Emulator.h"
#include "test/Runtime/cuda/experts/RoutedSuite.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
/// Returns the first defect that the emulator finds, or "".
std::string defectOf(Order order, const std::vector<int64_t> &args,
                     std::vector<Buffer> &buffers) {
  std::vector<void *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.data());
  RoutedProblem call;
  std::string error;
  if (decodeRouted(args.data(), pointers.data(), &call, &error) != 0)
    return error;
  if (error = cuda::checkRouted(call); !error.empty())
    return error;
  // Behind their ends lists hold what looks like a token. The guard is for
  // those who write more than they asked for.
  constexpr int kGuard = -7;
  const size_t size = cuda::routedWorkspace(call) / sizeof(int);
  std::vector<int> workspace(size + 1, 0);
  workspace[size] = kGuard;
  error = cuda::runRouted(call, workspace.data(), Emulator{order});
  EXPECT_EQ(workspace[size], kGuard);
  return error;
}

RoutedBackend emulated(Order order) {
  return [order](const std::vector<int64_t> &args, std::vector<Buffer> &b) {
    EXPECT_EQ(defectOf(order, args, b), "");
  };
}

class EmulatedRouted : public testing::TestWithParam<RoutedSizes> {};
} // namespace

TEST_P(EmulatedRouted, EqualsCpu) {
  expectEqualsCpu(emulated(Order::Forward), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, EmulatedRouted,
                         testing::ValuesIn(routedSizes()));

TEST(EmulatedRouted, OrderOfThreadsDoesNotMatter) {
  for (Order order : {Order::Backward, Order::Shuffled}) {
    expectEqualsCpu(emulated(order), {140, 3, 40, 136, Routes::Mixed});
    expectRoundsOfCpu(emulated(order), {2, 70, 2, 8, 40, Routes::Mixed});
  }
}

TEST(EmulatedRouted, RoundsAreThoseOfTheCpu) {
  for (const MessageSizes &sizes : messageSizes())
    expectRoundsOfCpu(emulated(Order::Forward), sizes);
}

TEST(EmulatedRouted, GatesAreThoseOfTheCpu) {
  for (auto [experts, k] :
       {std::pair<int64_t, int64_t>{8, 2}, {1, 1}, {5, 5}, {70, 3}})
    expectGatesOfCpu(emulated(Order::Shuffled), 19, experts, k);
}

/// A step fails instead of writing where there is no room.
TEST(EmulatedRouted, RefusesMoreRowsThanThereIsRoom) {
  std::vector<int64_t> args(TSR_ROUTED_ARGS);
  args[TSR_ROUTED_KIND] = TSR_ROUTED_DISPATCH;
  args[TSR_ROUTED_TOKENS] = 5;
  args[TSR_ROUTED_EXPERTS] = args[TSR_ROUTED_COLUMNS] = 2;
  Buffer tokens(TSR_DTYPE_F32, 10), gates(TSR_DTYPE_F32, 10);
  tokens.fill(1);
  gates.fill(1);
  std::vector<Buffer> buffers = {tokens, gates, Buffer(TSR_DTYPE_F32, 20)};
  args[TSR_ROUTED_ROWS] = 10;
  EXPECT_EQ(defectOf(Order::Forward, args, buffers), "");
  args[TSR_ROUTED_ROWS] = 9;
  EXPECT_EQ(defectOf(Order::Forward, args, buffers),
            "gates route more rows than the buffer has");
}

/// 6 tokens, each routed to both of 2 experts.
TEST(EmulatedRouted, RefusesMoreRowsThanMessagesHave) {
  std::vector<int64_t> args(TSR_ROUTED_ARGS);
  args[TSR_ROUTED_KIND] = TSR_ROUTED_PACK;
  args[TSR_ROUTED_TOKENS] = 6;
  args[TSR_ROUTED_EXPERTS] = args[TSR_ROUTED_MEMBERS] = 2;
  args[TSR_ROUTED_COLUMNS] = args[TSR_ROUTED_K] = 1;
  args[TSR_ROUTED_ROWS] = 12;
  args[TSR_ROUTED_MESSAGE] = 6;
  Buffer rows(TSR_DTYPE_F32, 12), gates(TSR_DTYPE_F32, 12);
  rows.fill(1);
  gates.fill(1);
  std::vector<Buffer> buffers = {rows, gates, Buffer(TSR_DTYPE_F32, 12)};
  EXPECT_EQ(defectOf(Order::Forward, args, buffers), "");
  args[TSR_ROUTED_MESSAGE] = 5;
  EXPECT_EQ(defectOf(Order::Forward, args, buffers),
            "gates route more rows of a member than its message has");
  args[TSR_ROUTED_OWN] = 1;
  EXPECT_EQ(defectOf(Order::Forward, args, buffers), ""); // a later one's
  args[TSR_ROUTED_TOKENS] = 12;
  args[TSR_ROUTED_EXPERTS] = 1;
  args[TSR_ROUTED_MEMBERS] = 1;
  args[TSR_ROUTED_ROWS] = 11;
  EXPECT_EQ(defectOf(Order::Forward, args, buffers),
            "gates route more rows than the buffer has");
  args[TSR_ROUTED_TOKENS] = 6;
  args[TSR_ROUTED_EXPERTS] = 2;
  args[TSR_ROUTED_ROWS] = 12;
  EXPECT_EQ(defectOf(Order::Forward, args, buffers),
            "gates route more rows to a member than its experts can have");
}
