//===- CommunicatorFailureTest.cpp - when ranks do not meet ---------------===//
// Every communicator says what went wrong, to all ranks, and nobody hangs.
//===----------------------------------------------------------------------===//
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <thread>

using namespace tessera;
using namespace fixture;

namespace {

TEST_P(CommunicatorFailure, MessageOfOtherLength) {
  World world = makeWorld({{"pp", 2}});
  onRanks(world, [&](int64_t rank) {
    char data[16] = {};
    Status status = rank == 0 ? world.ranks[0]->send({1, 1, 8}, data)
                              : world.ranks[1]->receive({1, 0, 16}, data);
    EXPECT_EQ(status.code, TSR_INTERNAL);
    EXPECT_NE(status.message.find("8 bytes"), std::string::npos);
    EXPECT_NE(status.message.find("16 bytes"), std::string::npos);
  });
}

TEST_P(CommunicatorFailure, AllToAllOfTwoForms) {
  World world = makeWorld({{"cp", 2}});
  onRanks(world, [&](int64_t rank) {
    Collective what = call(1, 2);
    what.rows = 2;
    what.gathersOuter = rank == 0;
    std::vector<float> from(8), to(8);
    Status status = world.ranks[rank]->allToAll(what, from.data(), to.data());
    for (const char *part : {"gathers the outer", "gathers the inner"})
      EXPECT_NE(status.message.find(part), std::string::npos) << status.message;
  });
}

TEST_P(CommunicatorFailure, MissingRankIsNamedByAll) {
  World world = makeWorld({{"dp", 2}, {"tp", 2}}, 100);
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    world.ranks[rank]->reached(7);
    if (rank == 2)
      return; // never arrives
    Status status = world.ranks[rank]->allReduce(call(3, 1), &value);
    EXPECT_EQ(status.code, TSR_TIMEOUT);
    EXPECT_EQ(status.message,
              "all_reduce of op 1 over axes 'dp', 'tp' did not finish within "
              "100 ms: rank 2 is missing, it is in op 7; ranks 0, 1 and 3 have "
              "arrived");
    // And it stays so.
    EXPECT_EQ(world.ranks[rank]->barrier(call(1, 0)).code, TSR_TIMEOUT);
  });
}

TEST_P(CommunicatorFailure, AbortReachesWaitingRanks) {
  World world = makeWorld({{"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      world.ranks[1]->abort({TSR_OUT_OF_MEMORY, "no more"});
      world.ranks[1]->abort({TSR_INTERNAL, "a later one"});
      return;
    }
    Status status = world.ranks[rank]->allReduce(call(1, 1), &value);
    EXPECT_EQ(status.code, TSR_OUT_OF_MEMORY);
    EXPECT_EQ(status.message, "no more");
  });
}

TEST_P(CommunicatorFailure, RankThatLeftIsNotWaitedFor) {
  World world = makeWorld({{"tp", 2}});
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    if (rank == 1)
      return world.ranks[1]->left();
    Status status = world.ranks[0]->allReduce(call(1, 1), &value);
    EXPECT_EQ(status.code, TSR_INTERNAL);
    EXPECT_EQ(status.message,
              "all_reduce of op 1 over axis 'tp' cannot finish: rank 1 is "
              "missing, it has left the program; rank 0 has arrived");
  });
}

TEST_P(CommunicatorFailure, IllegalCallIsAnError) {
  World world = makeWorld({{"tp", 2}});
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    EXPECT_EQ(world.ranks[rank]->allReduce(call(1, 1, 17), &value).code,
              TSR_INTERNAL);
  });
}

INSTANTIATE_TEST_SUITE_P(Every, CommunicatorFailure,
                         ::testing::Values(Kind::Threads, Kind::Tcp), nameOf);

} // namespace
