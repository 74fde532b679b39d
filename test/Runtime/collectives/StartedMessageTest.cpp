//===- StartedMessageTest.cpp - messages that need no thread --------------===//
// Threads start both sides of messages and finish them when they like; whoever
// is second copies.
//===----------------------------------------------------------------------===//
#include "runtime/device/StartedMessages.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <numeric>

using namespace tessera;
using namespace fixture;

namespace {

World threadWorld(int64_t ranks, int timeoutMs = 60000, int threads = 1) {
  return World(Kind::Threads, {{{"pp", ranks}}, timeoutMs, threads});
}

/// Both ranks start all messages in both directions before they finish any, the
/// last one first: with one thread for each rank this would hang.
TEST(StartedMessages, FinishInAnyOrder) {
  World world = threadWorld(2);
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    const int64_t peer = 1 - rank;
    Delay delay(rank);
    for (int64_t round = 0; round < 50; ++round) {
      constexpr size_t count = 4;
      std::array<int64_t, count> sent, received;
      std::vector<std::shared_ptr<StartedMessage>> started;
      for (size_t i = 0; i < count; ++i) {
        sent[i] = 1000 * round + 10 * static_cast<int64_t>(i) + rank;
        delay();
        started.push_back(own.startReceive({1, peer, 8}, &received[i]));
        started.push_back(own.startSend({2, peer, 8}, &sent[i]));
      }
      for (auto message = started.rbegin(); message != started.rend();
           ++message) {
        ASSERT_TRUE(own.finish(**message).ok());
        EXPECT_LE((*message)->begin, (*message)->end);
      }
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(received[i], 1000 * round + 10 * int64_t(i) + peer);
    }
  });
}

/// Started ones and those that block have one order.
TEST(StartedMessages, BlockingOnesKeepTheOrder) {
  World world = threadWorld(2);
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    int64_t values[3] = {1, 2, 3};
    if (rank == 0) {
      auto first = own.startSend({1, 1, 8}, &values[0]);
      ASSERT_TRUE(own.send({1, 1, 8}, &values[1]).ok());
      ASSERT_TRUE(own.finish(*first).ok());
      return;
    }
    ASSERT_TRUE(own.receive({1, 0, 8}, &values[1]).ok());
    auto second = own.startReceive({1, 0, 8}, &values[2]);
    ASSERT_TRUE(own.finish(*second).ok());
    EXPECT_EQ(values[1], 1);
    EXPECT_EQ(values[2], 2);
  });
}

/// Sizes are 0, odd numbers, and so many bytes that several threads copy.
TEST(StartedMessages, HaveAnySize) {
  for (int64_t bytes : {0, 1, 4097, (5 << 20) + 3}) {
    World world = threadWorld(3, 60000, 4);
    onRanks(world, [&](int64_t rank) {
      Communicator &own = *world.ranks[rank];
      std::vector<unsigned char> data(bytes + 1, 0), expected(bytes + 1, 0);
      std::iota(expected.begin(), expected.end() - 1, 1);
      if (rank == 0)
        data = expected;
      std::shared_ptr<StartedMessage> message;
      if (rank > 0)
        ASSERT_TRUE(
            own.finish(*own.startReceive({1, rank - 1, bytes}, data.data()))
                .ok());
      if (rank < 2)
        ASSERT_TRUE(
            own.finish(*own.startSend({1, rank + 1, bytes}, data.data())).ok());
      EXPECT_EQ(data, expected); // and nothing behind
    });
  }
}

TEST(StartedMessages, OtherLengthFailsOnBothSides) {
  World world = threadWorld(2);
  onRanks(world, [&](int64_t rank) {
    char data[16] = {};
    Communicator &own = *world.ranks[rank];
    auto message = rank == 0 ? own.startSend({1, 1, 8}, data)
                             : own.startReceive({1, 0, 16}, data);
    Status status = own.finish(*message);
    EXPECT_EQ(status.code, TSR_INTERNAL);
    EXPECT_NE(status.message.find("message from rank 0 to rank 1: "),
              std::string::npos)
        << status.message;
  });
}

TEST(StartedMessages, OneThatNobodyTakesIsNamed) {
  World world = threadWorld(2, 100);
  int64_t value = 0;
  Communicator &own = *world.ranks[0];
  world.ranks[1]->reached(7);
  Status status = own.finish(*own.startReceive({1, 1, 8}, &value));
  EXPECT_EQ(status.code, TSR_TIMEOUT);
  EXPECT_EQ(status.message,
            "receive of op 1 from rank 1 to rank 0 did not finish within 100 "
            "ms: rank 1 is missing, it is in op 7; rank 0 has arrived");
  // And it stays so: nothing is copied any more.
  int64_t sent = 5;
  EXPECT_EQ(
      world.ranks[1]->finish(*world.ranks[1]->startSend({1, 0, 8}, &sent)).code,
      TSR_TIMEOUT);
  EXPECT_EQ(value, 0);
}

TEST(StartedMessages, APeerThatLeftIsNotWaitedFor) {
  World world = threadWorld(2);
  int64_t value = 0;
  auto message = world.ranks[0]->startSend({1, 1, 8}, &value);
  world.ranks[1]->left();
  EXPECT_EQ(world.ranks[0]->finish(*message).message,
            "send of op 1 from rank 0 to rank 1 cannot finish: rank 1 is "
            "missing, it has left the program; rank 0 has arrived");
}

TEST(StartedMessages, NoPeerIsAnError) {
  World world = threadWorld(2);
  int64_t value = 0;
  Status status =
      world.ranks[0]->finish(*world.ranks[0]->startSend({1, 2, 8}, &value));
  EXPECT_EQ(status.message, "rank 0 exchanges 8 bytes with rank 2 of 2");
}

/// A rank that is a process has a thread for them.
TEST(StartedMessages, ProcessesHaveNone) {
  World world(Kind::Tcp, {{{"pp", 2}}});
  int64_t value = 0;
  EXPECT_EQ(world.ranks[0]->startSend({1, 1, 8}, &value), nullptr);
  EXPECT_EQ(world.ranks[0]->startReceive({1, 1, 8}, &value), nullptr);
}

/// A rank keeps its messages by buffer, with a trace of what was copied.
TEST(StartedMessages, AreWaitedForByBuffer) {
  World world = threadWorld(2);
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    StartedMessages messages;
    OpTrace trace;
    int64_t a = rank == 0 ? 1 : -1, b = rank == 0 ? 2 : -1, other = 0;
    for (auto [op, data] : {std::pair{3, &a}, {4, &b}})
      messages.add(op, data,
                   rank == 0 ? own.startSend({op, 1, 8}, data)
                             : own.startReceive({op, 0, 8}, data));
    EXPECT_FALSE(messages.wait(&other, own, &trace).has_value());
    EXPECT_TRUE(messages.wait(&b, own, &trace)->ok());
    EXPECT_TRUE(messages.wait(&a, own, nullptr)->ok());
    EXPECT_FALSE(messages.wait(&a, own, &trace).has_value());
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2);
    ASSERT_EQ(trace.events.size(), 1u);
    EXPECT_EQ(trace.events[0].op, 4);
    EXPECT_LE(trace.events[0].begin, trace.events[0].end);
  });
}

} // namespace
