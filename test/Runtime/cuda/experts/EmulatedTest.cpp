//===- EmulatedTest.cpp - The experts' own code, on a CPU -----------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cuda/experts/RoutedTable.h"
#include "test/Runtime/cuda/attention/Emulator.h"
#include "test/Runtime/cuda/experts/RoutedSuite.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
RoutedBackend emulated(Order order) {
  return [order](const std::vector<int64_t> &args, std::vector<Buffer> &b) {
    std::vector<void *> pointers;
    for (Buffer &buffer : b)
      pointers.push_back(buffer.data());
    RoutedProblem call;
    std::string error;
    ASSERT_EQ(decodeRouted(args.data(), pointers.data(), &call, &error), 0)
        << error;
    ASSERT_EQ(cuda::checkRouted(call), "");
    // Behind their ends lists hold what looks like a token.
    std::vector<int> workspace(cuda::routedWorkspace(call) / sizeof(int), 0);
    EXPECT_EQ(cuda::runRouted(call, workspace.data(), Emulator{order}), "");
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
  for (Order order : {Order::Backward, Order::Shuffled})
    expectEqualsCpu(emulated(order), {140, 3, 40, 136, Routes::Mixed});
}

TEST(EmulatedRouted, GatesAreThoseOfTheCpu) {
  for (auto [experts, k] :
       {std::pair<int64_t, int64_t>{8, 2}, {1, 1}, {5, 5}, {70, 3}})
    expectGatesOfCpu(emulated(Order::Shuffled), 19, experts, k);
}
