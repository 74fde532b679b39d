//===- CommunicatorFailureTest.cpp - when ranks do not meet ---------------===//
// Every communicator says what went wrong, to all ranks, and nobody hangs.
//===----------------------------------------------------------------------===//
#include "runtime/collectives/RowExchange.h"
#include "runtime/collectives/thread/ThreadWorld.h"
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

/// Gates of the two sides are not those of one routing.
TEST(RowExchange, RanksThatExpectOtherRowsThanAreSentFail) {
  World world(Kind::Threads, {{{"ep", 2}}});
  // The buffers outlive a failure, as in a session: the other rank may still
  // read.
  std::vector<float> sources[2], targets[2];
  onRanks(world, [&](int64_t rank) {
    RowExchange exchange;
    exchange.call = call(1, 1);
    exchange.sent = {{{0, 1}}, {{1, 1}}};
    exchange.received = {{{0, rank == 0 ? 1 : 2}}, {{2, 1}}};
    exchange.filled = exchange.targetRows = 3;
    std::vector<float> &from = sources[rank], &to = targets[rank];
    from.resize(3);
    to.resize(3);
    Status status =
        world.ranks[rank]->exchangeRows(exchange, from.data(), to.data());
    EXPECT_EQ(status.code, TSR_INTERNAL);
    EXPECT_EQ(status.message, "exchange_rows of op 1: member 0 sends other "
                              "rows than member 1 expects");
    EXPECT_EQ(world.ranks[rank]->barrier(call(1, 0)).code, TSR_INTERNAL);
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
  Collective type = call(1, 1, 17), count = call(1, -1), outer = call(1, 1),
             reduction = call(1, 1);
  outer.outer = -1;
  reduction.reduction = 7;
  for (const Collective &illegal : {type, count, outer, reduction}) {
    World world = makeWorld({{"tp", 2}});
    onRanks(world, [&](int64_t rank) {
      float value = 1;
      EXPECT_EQ(world.ranks[rank]->allReduce(illegal, &value).code,
                TSR_INTERNAL);
    });
  }
}

TEST_P(CommunicatorFailure, RootOutsideOfTheGroupIsAnError) {
  for (int64_t root : {-1, 2}) {
    World world = makeWorld({{"tp", 2}});
    onRanks(world, [&](int64_t rank) {
      float value = 1;
      EXPECT_EQ(world.ranks[rank]->broadcast(call(1, 1), root, &value).code,
                TSR_INTERNAL);
    });
  }
}

TEST_P(CommunicatorFailure, MessageWithNoPeerIsAnError) {
  char data[8] = {};
  for (const Message &message :
       {Message{1, -1, 8}, {1, 2, 8}, {1, 0, 8}, {1, 1, -8}})
    for (bool sends : {true, false}) {
      World world = makeWorld({{"pp", 2}});
      Status status = sends ? world.ranks[0]->send(message, data)
                            : world.ranks[0]->receive(message, data);
      EXPECT_EQ(status.code, TSR_INTERNAL);
      EXPECT_EQ(status.message,
                concat("rank 0 exchanges ", message.bytes, " bytes with rank ",
                       message.peer, " of 2"));
    }
}

TEST_P(CommunicatorFailure, MessageThatNobodyTakesIsNamed) {
  for (bool sends : {true, false}) {
    World world = makeWorld({{"pp", 2}}, 100);
    char data[8] = {};
    Status status = sends ? world.ranks[0]->send({1, 1, 8}, data)
                          : world.ranks[0]->receive({1, 1, 8}, data);
    EXPECT_EQ(status.code, TSR_TIMEOUT);
    std::string way = sends ? "from rank 0 to rank 1" : "from rank 1 to rank 0";
    EXPECT_NE(status.message.find(way + " did not finish within 100 ms: rank 1 "
                                        "is missing"),
              std::string::npos)
        << status.message;
  }
}

TEST_P(CommunicatorFailure, ShiftThatFailsSaysSo) {
  for (bool sendsFirst : {true, false}) {
    World world = makeWorld({{"cp", 2}}, 100);
    float held = 1, next = 0;
    EXPECT_EQ(world.ranks[0]
                  ->shift({call(1, 1), 1, 1, sendsFirst}, &held, &next)
                  .code,
              TSR_TIMEOUT);
  }
}

/// All but the first: it has left its program, and nobody waits for it.
TEST(ThreadWorld, StragglersAreNamed) {
  ThreadWorldOptions options;
  options.mesh.axes = {{"tp", 4}};
  options.timeout = std::chrono::milliseconds(300);
  options.describeOp = [](int64_t op) { return concat("op ", op); };
  ThreadWorld world(options);
  for (int64_t rank : {0, 1, 2, 3})
    world.setInside(rank, true);
  world.reached(1, 7);
  world.setInside(0, false);
  world.setInside(2, false);
  world.abortStragglers();
  EXPECT_EQ(world.failure().code, TSR_TIMEOUT);
  EXPECT_EQ(world.failure().message,
            "the step did not finish within 300 ms of the first rank: rank 1 "
            "is missing, it is in op 7; rank 3 is missing, it has not reached "
            "an op");
}

INSTANTIATE_TEST_SUITE_P(Every, CommunicatorFailure,
                         ::testing::ValuesIn(everyKind()), nameOf);

} // namespace
