//===- NcclTest.cpp - the device's use of NCCL, with a stand-in for it ----===//
// Ranks are threads; between hosts they meet as threads or as processes do.

#include "test/Runtime/cuda/CoalescedSuite.h"
#include "test/Runtime/cuda/RingSuite.h"
#include "test/Runtime/cuda/StandInControl.h"
#include "test/Runtime/cuda/StandInNccl.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

using namespace gpu;
using namespace tessera;

namespace {

const std::vector<Axis> axes = {{"dp", 2}, {"tp", 2}};
constexpr int64_t inputAt = 0, outputAt = 1 << 16, backAt = 1 << 17,
                  arenaBytes = 1 << 18;

class Nccl : public ::testing::TestWithParam<Hosts> {
protected:
  Nccl() : nccl(*standInNccl()) {
    nccl.reset();
    standInDevices = 4;
  }
  ~Nccl() override { standInDevices = 2; }
  WorldOptions options(Body body) const {
    WorldOptions result;
    result.axes = axes;
    result.arenaBytes = arenaBytes;
    result.body = std::move(body);
    result.communicator = "nccl";
    result.hosts = GetParam();
    return result;
  }

  StandInNccl &nccl;
};

int32_t collective(const Program &p, tsr_abi_entry entry,
                   std::vector<int64_t> args) {
  return p.call(entry, {p.at(inputAt), p.at(outputAt)}, std::move(args));
}

/// Returns small integers: sums are exact in any order, in bf16 too.
float valueOf(int64_t rank, int64_t i) {
  return static_cast<float>((rank + 1) * (i % 7));
}

std::vector<float> inputOf(int64_t rank, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = valueOf(rank, i);
  return values;
}

TEST_P(Nccl, AllReduceOverEachSetOfAxes) {
  for (int64_t set : {1, 2, 3}) {
    World world(options([&](const Program &p) {
      return collective(p, p.frame.api->all_reduce,
                        {set, 100, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1});
    }));
    for (int64_t step = 0; step < 4; ++step) { // the last ones as a graph
      for (int64_t rank = 0; rank < 4; ++rank)
        world.write(rank, inputAt, inputOf(rank, 100));
      Status status = world.step(step);
      ASSERT_TRUE(status.ok()) << status.message;
      for (int64_t rank = 0; rank < 4; ++rank) {
        std::vector<float> sums(100);
        for (int64_t other : world.mesh().group(rank, set))
          for (int64_t i = 0; i < 100; ++i)
            sums[i] += valueOf(other, i);
        EXPECT_EQ(world.read<float>(rank, inputAt, 100), sums);
      }
    }
  }
  EXPECT_EQ(nccl.mismatches, 0);
  EXPECT_GT(nccl.ran, 0);
}

TEST_P(Nccl, MaximumAndBf16) {
  World world(options([&](const Program &p) {
    return collective(p, p.frame.api->all_reduce,
                      {3, 8, TSR_DTYPE_BF16, TSR_REDUCE_MAX, 1});
  }));
  for (int64_t rank = 0; rank < 4; ++rank) // 1, 2, 3, 4 in bf16
    world.write(
        rank, inputAt,
        std::vector<uint16_t>(
            8, std::vector<uint16_t>{0x3F80, 0x4000, 0x4040, 0x4080}[rank]));
  ASSERT_TRUE(world.step().ok());
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(world.read<uint16_t>(rank, inputAt, 8),
              std::vector<uint16_t>(8, 0x4080));
}

TEST_P(Nccl, GatherAndScatterWithAnOuterDimension) {
  for (int64_t outer : {1, 3}) {
    constexpr int64_t count = 10;
    World world(options([&](const Program &p) {
      if (int32_t code =
              collective(p, p.frame.api->all_gather,
                         {2, count, TSR_DTYPE_F32, TSR_REDUCE_SUM, outer}))
        return code;
      return p.call(p.frame.api->reduce_scatter,
                    {p.at(outputAt), p.at(inputAt)},
                    {2, count, TSR_DTYPE_F32, TSR_REDUCE_SUM, outer});
    }));
    for (int64_t rank = 0; rank < 4; ++rank)
      world.write(rank, inputAt, inputOf(rank, outer * count));
    Status status = world.step();
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t rank = 0; rank < 4; ++rank) {
      std::vector<float> gathered, doubled;
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t other : world.mesh().group(rank, 2))
          for (int64_t i = 0; i < count; ++i)
            gathered.push_back(valueOf(other, o * count + i));
      for (float value : inputOf(rank, outer * count))
        doubled.push_back(2 * value);
      EXPECT_EQ(world.read<float>(rank, outputAt, gathered.size()), gathered);
      EXPECT_EQ(world.read<float>(rank, inputAt, doubled.size()), doubled);
    }
  }
  EXPECT_EQ(nccl.mismatches, 0);
}

/// All members are of one group of NCCL's, which runs when it ends.
TEST_P(Nccl, CoalescedCallsAreOneGroup) {
  CoalescedSuite("nccl", GetParam()).run();
  EXPECT_EQ(nccl.mismatches, 0);
  EXPECT_EQ(nccl.largestGroup, 5);
}

/// Element (o, row, part, i) of rank r is valueOf(r, its index); there and
/// back.
TEST_P(Nccl, AllToAllTransposesPartsAndMembers) {
  for (int64_t set : {2, 3})
    for (auto [outer, rows] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 3}, {2, 1}, {2, 3}}) {
      constexpr int64_t count = 5;
      World world(options([&, outer = outer, rows = rows](const Program &p) {
        std::vector<int64_t> args = {
            set, count, TSR_DTYPE_F32, TSR_REDUCE_SUM, outer, 0, rows, 1};
        if (int32_t code = collective(p, p.frame.api->all_to_all, args))
          return code;
        args[TSR_COLLECTIVE_GATHERS_OUTER] = 0;
        return p.call(p.frame.api->all_to_all, {p.at(outputAt), p.at(backAt)},
                      args);
      }));
      int64_t size = set == 3 ? 4 : 2, all = outer * rows * size * count;
      for (int64_t rank = 0; rank < 4; ++rank)
        world.write(rank, inputAt, inputOf(rank, all));
      Status status = world.step();
      ASSERT_TRUE(status.ok()) << status.message;
      for (int64_t rank = 0; rank < 4; ++rank) {
        std::vector<int64_t> group = world.mesh().group(rank, set);
        int64_t me =
            std::find(group.begin(), group.end(), rank) - group.begin();
        std::vector<float> wanted;
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t other : group)
            for (int64_t row = 0; row < rows; ++row)
              for (int64_t i = 0; i < count; ++i)
                wanted.push_back(
                    valueOf(other, ((o * rows + row) * size + me) * count + i));
        EXPECT_EQ(world.read<float>(rank, outputAt, all), wanted);
        EXPECT_EQ(world.read<float>(rank, backAt, all), inputOf(rank, all));
      }
    }
  EXPECT_EQ(nccl.mismatches, 0);
}

/// Result [2 experts, 2 members * 3 tokens, rows of 5], the experts scattered.
/// Tokens go to the expert of their number's parity.
TEST_P(Nccl, AllToAllByGatesBringsZerosForOthers) {
  constexpr int64_t experts = 2, each = 3, row = 5, tokens = 2 * each;
  World world(options([&](const Program &p) {
    std::vector<int64_t> args = {
        2,       each * row, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0, experts, 0, 0,
        experts, tokens,     row,           TSR_DTYPE_F32};
    return p.call(p.frame.api->all_to_all,
                  {p.at(inputAt), p.at(outputAt), p.at(backAt)}, args);
  }));
  std::vector<float> gates;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t x = 0; x < experts; ++x)
      gates.push_back(t % 2 == x ? 0.5f : 0);
  const int64_t all = experts * tokens * row;
  for (int64_t step = 0; step < 4; ++step) { // the last ones as a graph
    for (int64_t rank = 0; rank < 4; ++rank) {
      world.write(rank, inputAt, inputOf(rank, all));
      world.write(rank, backAt, gates);
    }
    Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t rank = 0; rank < 4; ++rank) {
      std::vector<int64_t> group = world.mesh().group(rank, 2);
      std::vector<float> wanted;
      for (int64_t x = 0; x < experts; ++x)
        for (int64_t t = 0; t < tokens; ++t)
          for (int64_t c = 0; c < row; ++c) {
            int64_t from = (rank % 2 * experts + x) * each + t % each;
            wanted.push_back(
                t % 2 == x ? valueOf(group[t / each], from * row + c) : 0);
          }
      EXPECT_EQ(world.read<float>(rank, outputAt, all), wanted);
    }
  }
}

/// Rings of two and of three: with three, two halves of a slice go to one rank.
TEST_P(Nccl, RingsPassOnAndDealOut) {
  for (int64_t ranks : {2, 3})
    for (bool isAsync : {false, true}) {
      WorldOptions ring = options({});
      ring.axes = {{"dp", ranks == 2 ? 2 : 1}, {"cp", ranks}};
      expectShiftGivesToTheNext(ring, isAsync);
      expectZigzagDealsTwoChunks(ring, isAsync);
    }
  EXPECT_EQ(nccl.mismatches, 0);
  EXPECT_GT(nccl.ran, 0);
}

TEST_P(Nccl, BroadcastFromEachMember) {
  for (int64_t root : {0, 1}) {
    World world(options([&](const Program &p) {
      return p.call(p.frame.api->broadcast, {p.at(inputAt)},
                    {1, 9, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0, 0, 0, root});
    }));
    for (int64_t rank = 0; rank < 4; ++rank)
      world.write(rank, inputAt, inputOf(rank, 9));
    ASSERT_TRUE(world.step().ok());
    for (int64_t rank = 0; rank < 4; ++rank)
      EXPECT_EQ(world.read<float>(rank, inputAt, 9),
                inputOf(world.mesh().group(rank, 1)[root], 9));
  }
  EXPECT_EQ(nccl.mismatches, 0);
}

/// Messages pass as in a pipeline: to the next stage, back with another value,
/// twice.
TEST_P(Nccl, MessagesMeetInOrder) {
  World world(options([](const Program &p) -> int32_t {
    int64_t stage = p.frame.coordinates[0];
    const tsr_abi_api &api = *p.frame.api;
    for (int64_t at : {inputAt, outputAt}) {
      std::vector<int64_t> there = {0, 1 - stage, 40};
      for (auto entry :
           {stage ? api.receive : api.send, stage ? api.send : api.receive})
        if (int32_t code = p.call(
                entry, {p.at(entry == api.send ? inputAt : at + 4096), nullptr},
                there))
          return code;
    }
    return 0;
  }));
  for (int64_t step = 0; step < 4; ++step) { // the last ones as a graph
    for (int64_t rank = 0; rank < 4; ++rank)
      world.write(rank, inputAt, inputOf(rank + step, 10));
    Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    for (int64_t rank = 0; rank < 4; ++rank)
      for (int64_t at : {inputAt, outputAt})
        EXPECT_EQ(world.read<float>(rank, at + 4096, 10),
                  inputOf((rank + 2) % 4 + step, 10));
  }
  EXPECT_EQ(nccl.mismatches, 0);
  EXPECT_EQ(nccl.created, 4);
}

TEST_P(Nccl, CommunicatorPerGroupBeforeTheFirstStepAndNoAllocationAfter) {
  int allocations = 0;
  {
    World world(options([&](const Program &p) -> int32_t {
      for (int64_t set : {3, 1, 2, 1})
        if (int32_t code =
                collective(p, p.frame.api->all_gather,
                           {set, 8, TSR_DTYPE_F32, TSR_REDUCE_SUM, 2}))
          return code;
      return 0;
    }));
    EXPECT_EQ(nccl.created, 4 * 3);
    allocations = standInAllocations;
    for (int64_t step = 0; step < 5; ++step)
      ASSERT_TRUE(world.step(step).ok());
    EXPECT_EQ(nccl.created, 4 * 3);
    EXPECT_EQ(standInAllocations, allocations);
    EXPECT_EQ(nccl.ran, 4 * 4 * 5);
    EXPECT_NE(world.describe().find("nccl 2.28.3"), std::string::npos);
  }
  EXPECT_EQ(nccl.destroyed, 4 * 3);
  EXPECT_EQ(nccl.aborted, 0);
}

TEST_P(Nccl, GroupOfOneNeedsNoCommunicator) {
  WorldOptions one = options([&](const Program &p) {
    return collective(p, p.frame.api->all_gather,
                      {1, 4, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1});
  });
  one.axes = {{"dp", 1}, {"tp", 2}};
  World world(one);
  for (int64_t rank = 0; rank < 2; ++rank)
    world.write(rank, inputAt, inputOf(rank, 4));
  ASSERT_TRUE(world.step().ok());
  EXPECT_EQ(world.read<float>(1, outputAt, 4), inputOf(1, 4));
  EXPECT_EQ(nccl.created, 0);
}

int32_t reduceAll(const Program &p) {
  return collective(p, p.frame.api->all_reduce,
                    {3, 8, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1});
}

std::string refusal(const WorldOptions &options) {
  try {
    World world(options);
  } catch (const Error &error) {
    return error.status.message;
  }
  return "";
}

TEST_P(Nccl, TwoRanksOnOneGpuAreRefused) {
  standInDevices = 3;
  std::string message = refusal(options(reduceAll));
  std::string wanted = GetParam() == Hosts::Processes
                           ? "ranks 0 and 3 are on the same GPU"
                           : "needs a GPU for each of the 4 ranks, there are 3";
  EXPECT_NE(message.find(wanted), std::string::npos) << message;
  EXPECT_NE(message.find("use communicator 'threads'"), std::string::npos)
      << message;
  EXPECT_EQ(nccl.created, 0);
}

TEST_P(Nccl, TimeOutAbortsAndSaysWhereTheOthersAre) {
  WorldOptions late = options([&](const Program &p) -> int32_t {
    bool leaves = p.frame.coordinates[0] == 1 && p.frame.coordinates[1] == 0;
    return leaves && p.frame.step == 1 ? 0 : reduceAll(p);
  });
  late.timeoutMs = 300;
  World world(late);
  ASSERT_TRUE(world.step(0).ok());
  Status status = world.step(1);
  EXPECT_EQ(status.code, TSR_TIMEOUT);
  for (const char *part :
       {"did not finish on its GPU within 300 ms; queued last was test 'here' "
        "(op 0) over axes 'dp', 'tp'; ",
        "rank 2 has left the program"})
    EXPECT_NE(status.message.find(part), std::string::npos) << status.message;
  EXPECT_GE(nccl.aborted, 3);
}

TEST_P(Nccl, AsynchronousErrorEndsAll) {
  World world(options([&](const Program &p) -> int32_t {
    bool leaves = p.frame.coordinates[0] == 1 && p.frame.step == 1;
    return leaves ? 0 : reduceAll(p);
  }));
  ASSERT_TRUE(world.step(0).ok());
  nccl.reportsError = true;
  Status status = world.step(1);
  EXPECT_EQ(status.code, TSR_INTERNAL);
  EXPECT_NE(
      status.message.find("last queued test 'here' (op 0): remote process "
                          "exited: stand-in"),
      std::string::npos)
      << status.message;
  EXPECT_GE(nccl.aborted, 2);
}

TEST_P(Nccl, ConnectingThatHangsIsGivenUp) {
  nccl.initHangs = true;
  WorldOptions stuck = options(reduceAll);
  stuck.timeoutMs = 200;
  std::string message = refusal(stuck);
  nccl.initHangs = false;
  EXPECT_NE(message.find("nccl: connecting rank "), std::string::npos);
  EXPECT_NE(message.find("over axes 'dp', 'tp' did not finish within 200 ms"),
            std::string::npos)
      << message;
}

INSTANTIATE_TEST_SUITE_P(Every, Nccl,
                         ::testing::Values(Hosts::Threads, Hosts::Processes),
                         [](const auto &info) {
                           return info.param == Hosts::Threads ? "Threads"
                                                               : "Processes";
                         });

} // namespace
