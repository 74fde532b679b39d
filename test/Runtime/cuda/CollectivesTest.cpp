//===- CollectivesTest.cpp - four thread ranks over device buffers --------===//
// Every collective against the CPU's communicator on the same values: equal
// bits, for both add neighbours first. Rounds follow each other without a
// pause, so that a missing event shows.

#include "runtime/collectives/thread/ThreadCommunicator.h"
#include "test/Runtime/cuda/CoalescedSuite.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace gpu;
using namespace tessera;

namespace {

const std::vector<Axis> axes = {{"dp", 2}, {"tp", 2}};
constexpr int64_t sourceAt = 0, targetAt = 1 << 18, arenaBytes = 4 << 20;
constexpr int rounds = 5;

struct Case {
  tsr_abi_entry tsr_abi_api::*entry;
  std::vector<int64_t> args;
};

bool isInPlace(const Case &c) {
  return c.entry == &tsr_abi_api::all_reduce ||
         c.entry == &tsr_abi_api::broadcast;
}

using Bytes = std::vector<unsigned char>;

/// Values of a rank, as f32, bf16 (upper halves) or small i32.
Bytes valuesOf(int64_t rank, int64_t dtype, int64_t bytes) {
  std::mt19937 random(static_cast<unsigned>(rank + 7));
  // Values have many sizes, so that the order of a sum shows.
  auto next = [&] {
    auto word = static_cast<uint32_t>(random());
    return std::ldexp(static_cast<float>(int32_t(word)), -int(word % 8) - 24);
  };
  Bytes result(bytes);
  for (int64_t i = 0; i + 4 <= bytes; i += 4) {
    float value = next(), other = next();
    auto integer = static_cast<int32_t>(value);
    uint16_t halves[2];
    std::memcpy(&halves[0], reinterpret_cast<char *>(&value) + 2, 2);
    std::memcpy(&halves[1], reinterpret_cast<char *>(&other) + 2, 2);
    const void *from = dtype == TSR_DTYPE_I32    ? static_cast<void *>(&integer)
                       : dtype == TSR_DTYPE_BF16 ? static_cast<void *>(halves)
                                                 : static_cast<void *>(&value);
    std::memcpy(&result[i], from, 4);
  }
  return result;
}

int32_t runCase(const Program &p, const Case &c) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<void *> buffers = {p.at(sourceAt), p.at(targetAt)};
    if (int32_t code = p.call(p.frame.api->*c.entry, buffers, c.args))
      return code;
    // The result of one round is the next one's input.
    if (!isInPlace(c))
      if (int32_t code =
              p.call(p.frame.api->copy, {p.at(targetAt), p.at(sourceAt)},
                     {1, 2000, 2000, 2000}))
        return code;
  }
  return 0;
}

Status runOnHost(Communicator &communicator, const Case &c, Bytes &arena) {
  Collective call;
  call.op = 0;
  call.axes = c.args[TSR_COLLECTIVE_AXES];
  call.count = c.args[TSR_COLLECTIVE_COUNT];
  call.dtype = static_cast<int>(c.args[TSR_COLLECTIVE_DTYPE]);
  call.reduction = static_cast<int>(c.args[TSR_COLLECTIVE_REDUCTION]);
  call.outer = c.args[TSR_COLLECTIVE_OUTER];
  if (c.entry == &tsr_abi_api::all_to_all) {
    call.rows = c.args[TSR_COLLECTIVE_ROWS];
    call.gathersOuter = c.args[TSR_COLLECTIVE_GATHERS_OUTER] != 0;
  }
  for (int round = 0; round < rounds; ++round) {
    void *source = arena.data(), *target = arena.data() + targetAt;
    Status status =
        c.entry == &tsr_abi_api::all_reduce
            ? communicator.allReduce(call, source)
        : c.entry == &tsr_abi_api::broadcast
            ? communicator.broadcast(call, c.args[TSR_COLLECTIVE_ROOT], source)
        : c.entry == &tsr_abi_api::all_gather
            ? communicator.allGather(call, source, target)
        : c.entry == &tsr_abi_api::all_to_all
            ? communicator.allToAll(call, source, target)
            : communicator.reduceScatter(call, source, target);
    if (!status.ok())
      return status;
    if (!isInPlace(c))
      std::memcpy(source, target, 2000);
  }
  return {};
}

void compare(const Case &c) {
  WorldOptions options;
  options.axes = axes;
  options.arenaBytes = arenaBytes;
  options.body = [&](const Program &p) { return runCase(p, c); };
  World world(options);
  ThreadWorldOptions settings;
  settings.mesh = world.mesh();
  settings.describeOp = [](int64_t op) { return concat("op ", op); };
  auto shared = std::make_shared<ThreadWorld>(settings);
  std::vector<Bytes> hosts;
  for (int64_t rank = 0; rank < 4; ++rank) {
    hosts.push_back(valuesOf(rank, c.args[TSR_COLLECTIVE_DTYPE], 2 * targetAt));
    world.write(rank, 0, hosts.back());
  }
  Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      ThreadCommunicator communicator(shared, rank);
      EXPECT_TRUE(runOnHost(communicator, c, hosts[rank]).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int64_t rank = 0; rank < 4; ++rank)
    ASSERT_EQ(world.read<unsigned char>(rank, 0, 2 * targetAt), hosts[rank])
        << "rank " << rank << " axes " << c.args[0] << " dtype " << c.args[2];
}

TEST(GpuCollectives, AllReduceHasTheBitsOfTheCpu) {
  for (int64_t set : {1, 2, 3})
    for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_I32})
      for (int64_t reduction : {TSR_REDUCE_SUM, TSR_REDUCE_MAX})
        for (int64_t count : {1, 777, 40000})
          compare(
              {&tsr_abi_api::all_reduce, {set, count, dtype, reduction, 1, 0}});
}

TEST(GpuCollectives, AllGatherPutsRanksInOrder) {
  for (int64_t set : {1, 2, 3})
    for (int64_t outer : {1, 3})
      compare({&tsr_abi_api::all_gather,
               {set, 125, TSR_DTYPE_F32, TSR_REDUCE_SUM, outer, 0}});
}

TEST(GpuCollectives, ReduceScatterHasTheBitsOfTheCpu) {
  for (int64_t set : {1, 2, 3})
    for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16})
      for (int64_t outer : {1, 3})
        compare({&tsr_abi_api::reduce_scatter,
                 {set, 250, dtype, TSR_REDUCE_SUM, outer, 0}});
}

TEST(GpuCollectives, CoalescedCallsDoWhatTheirMembersDo) {
  CoalescedSuite("threads").run();
}

TEST(GpuCollectives, AllToAllPutsPiecesWhereTheCpuDoes) {
  for (int64_t set : {1, 2, 3})
    for (int64_t outer : {1, 3})
      for (int64_t rows : {1, 2})
        for (int64_t gathersOuter : {0, 1})
          compare({&tsr_abi_api::all_to_all,
                   {set, 11, TSR_DTYPE_BF16, TSR_REDUCE_SUM, outer, 0, rows,
                    gathersOuter}});
}

TEST(GpuCollectives, BroadcastIsTheRootsBuffer) {
  for (int64_t set : {1, 2})
    for (int64_t root : {0, 1})
      compare({&tsr_abi_api::broadcast,
               {set, 333, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0, 0, 0, root}});
}

/// Round and round: what is received is sent on at once, a copy follows.
int32_t passOn(const Program &p, int64_t bytesOfLast, bool isAsync = false) {
  int64_t own = p.frame.coordinates[1];
  const tsr_abi_api &api = *p.frame.api;
  for (int round = 0; round < rounds; ++round) {
    int64_t bytes = own && round == rounds - 1 ? bytesOfLast : 4000;
    std::vector<int64_t> peer = {1, 1 - own, bytes, isAsync};
    void *mine = p.at(sourceAt), *theirs = p.at(targetAt),
         *token = p.at(3 << 20);
    for (int32_t code :
         {own ? p.call(api.receive, {theirs}, peer)
              : p.call(api.send, {mine, token}, peer),
          own ? p.call(api.send, {mine, token}, peer)
              : p.call(api.receive, {theirs}, peer),
          isAsync ? p.call(api.wait, {token}, {}) : 0,
          isAsync ? p.call(api.wait, {theirs}, {}) : 0,
          p.call(api.copy, {theirs, mine}, {1, 4000, 4000, 4000})})
      if (code)
        return code;
  }
  return 0;
}

class GpuMessages : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(InOrderAndBesideTheProgram, GpuMessages,
                         testing::Bool());

TEST_P(GpuMessages, AreExchangedInOrder) {
  WorldOptions options;
  options.axes = axes;
  options.arenaBytes = arenaBytes;
  options.body = [](const Program &p) { return passOn(p, 4000, GetParam()); };
  World world(options);
  for (int64_t rank = 0; rank < 4; ++rank)
    world.write(rank, sourceAt, valuesOf(rank, TSR_DTYPE_F32, 4000));
  Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  for (int64_t rank = 0; rank < 4; ++rank) // an odd number of exchanges
    EXPECT_EQ(world.read<unsigned char>(rank, sourceAt, 4000),
              valuesOf(rank ^ 1, TSR_DTYPE_F32, 4000));
}

TEST(GpuCollectives, MessagesOfTwoSizesNameBoth) {
  WorldOptions options;
  options.axes = axes;
  options.arenaBytes = arenaBytes;
  options.body = [](const Program &p) { return passOn(p, 2000); };
  World world(options);
  std::string message = world.step().message;
  EXPECT_NE(message.find("4000 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("2000 bytes"), std::string::npos) << message;
}

/// Computes two sums, with copies beside and behind them.
int32_t sumBeside(const Program &p, bool isAsync) {
  const int64_t count = 40000, bytes = 4 * count;
  void *a = p.at(0), *b = p.at(1 << 20), *c = p.at(2 << 20), *d = p.at(3 << 20);
  const tsr_abi_api &api = *p.frame.api;
  std::vector<int64_t> sum = {3, count,  TSR_DTYPE_F32, TSR_REDUCE_SUM,
                              1, isAsync};
  std::vector<int64_t> move = {1, bytes, bytes, bytes};
  for (int round = 0; round < rounds; ++round)
    for (int32_t code :
         {p.call(api.all_reduce, {a}, sum), p.call(api.all_reduce, {b}, sum),
          p.call(api.copy, {c, d}, move),
          isAsync ? p.call(api.wait, {b}, {}) : 0,
          p.call(api.copy, {b, c}, move),
          isAsync ? p.call(api.wait, {a}, {}) : 0,
          p.call(api.copy, {a, b}, move)})
      if (code)
        return code;
  return 0;
}

TEST(GpuCollectives, WhatIsStartedAndWaitedForHasTheSameBits) {
  std::vector<std::vector<Bytes>> results;
  for (bool isAsync : {false, true}) {
    WorldOptions options;
    options.axes = axes;
    options.arenaBytes = arenaBytes;
    options.body = [&](const Program &p) { return sumBeside(p, isAsync); };
    World world(options);
    for (int64_t rank = 0; rank < 4; ++rank)
      world.write(rank, 0, valuesOf(rank, TSR_DTYPE_F32, 2 << 20));
    Status status = world.step();
    ASSERT_TRUE(status.ok()) << status.message;
    results.emplace_back();
    for (int64_t rank = 0; rank < 4; ++rank)
      results.back().push_back(world.read<unsigned char>(rank, 0, arenaBytes));
  }
  EXPECT_EQ(results[0], results[1]);
}

/// The third step is captured: the other stream must be part of it.
TEST(GpuCollectives, ACapturedStepKeepsTheirOrder) {
  World world(single(1 << 20, [](const Program &p) {
    const tsr_abi_api &api = *p.frame.api;
    std::vector<int64_t> gather = {1, 1000, TSR_DTYPE_F32, TSR_REDUCE_SUM,
                                   1, 1};
    for (int32_t code :
         {p.call(api.all_gather, {p.at(0), p.at(1 << 16)}, gather),
          p.call(api.fill, {p.at(1 << 18)}, {4000}),
          p.call(api.wait, {p.at(1 << 16)}, {}),
          p.call(api.copy, {p.at(1 << 16), p.at(1 << 17)},
                 {1, 4000, 4000, 4000})})
      if (code)
        return code;
    return 0;
  }));
  for (int step = 0; step < 5; ++step) {
    std::vector<float> values(1000, static_cast<float>(step + 1));
    world.write(0, 0, values);
    Status status = world.step(step);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(world.read<float>(0, 1 << 17, 1000), values) << "step " << step;
  }
}

TEST(GpuCollectives, WaitingForWhatWasNotStartedIsAnError) {
  World world(single(1 << 12, [](const Program &p) {
    return p.call(p.frame.api->wait, {p.at(0)}, {});
  }));
  EXPECT_NE(world.step().message.find("was not started"), std::string::npos);
}

TEST(GpuCollectives, DisagreementNamesBoth) {
  WorldOptions options;
  options.axes = axes;
  options.body = [](const Program &p) {
    int64_t count = p.frame.coordinates[1] ? 8 : 9;
    return p.call(p.frame.api->all_reduce, {p.at(0)},
                  {2, count, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0});
  };
  World world(options);
  Status status = world.step();
  EXPECT_NE(status.message.find("ranks disagree"), std::string::npos)
      << status.message;
}

TEST(GpuCollectives, MissingRankIsNamed) {
  WorldOptions options;
  options.axes = axes;
  options.timeoutMs = 300;
  options.body = [](const Program &p) {
    bool leaves = p.frame.coordinates[0] == 1 && p.frame.coordinates[1] == 0;
    return leaves ? 0
                  : p.call(p.frame.api->all_reduce, {p.at(0)},
                           {3, 8, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0});
  };
  World world(options);
  Status status = world.step();
  EXPECT_NE(status.message.find("rank 2 is missing"), std::string::npos)
      << status.message;
}

} // namespace
