//===- DeadlockTest.cpp - programs that wait for each other ---------------===//

#include "tessera/Schedule/Deadlock.h"
#include <gtest/gtest.h>

using namespace tessera::pipeline;

namespace {

Event send(int64_t to, const char *what = "x") {
  return {Event::Send, to, {}, what, "send"};
}
Event receive(int64_t from, const char *what = "x") {
  return {Event::Receive, from, {}, what, "receive"};
}
Event meeting(std::vector<int64_t> group, const char *what = "sum") {
  return {Event::Collective, 0, group, what, "sum"};
}

TEST(DeadlockTest, MatchingProgramsEnd) {
  EXPECT_EQ(findDeadlock({{send(1), receive(1), meeting({0, 1})},
                          {receive(0), send(0), meeting({0, 1})}}),
            "");
  EXPECT_EQ(findDeadlock({{}, {}}), "");
}

/// The classic: with buffers it would work, until messages are too large.
TEST(DeadlockTest, BothInSend) {
  EXPECT_EQ(findDeadlock({{send(1), receive(1)}, {send(0), receive(0)}}),
            "rank 0 in send waits for rank 1; rank 1 in send waits for rank 0");
}

TEST(DeadlockTest, ACircleOfThree) {
  EXPECT_EQ(findDeadlock({{send(1), receive(2)},
                          {send(2), receive(0)},
                          {send(0), receive(1)}}),
            "rank 0 in send waits for rank 1; rank 1 in send waits for rank 2; "
            "rank 2 in send waits for rank 0");
}

TEST(DeadlockTest, AMissingPartner) {
  EXPECT_EQ(findDeadlock({{send(1)}, {}}),
            "rank 0 in send waits for rank 1; rank 1 has ended");
  EXPECT_EQ(findDeadlock({{meeting({0, 1, 2})}, {meeting({0, 1, 2})}, {}}),
            "rank 0 in sum waits for rank 2; rank 2 has ended");
}

TEST(DeadlockTest, ACollectiveInTheWrongOrder) {
  EXPECT_EQ(
      findDeadlock({{send(1), meeting({0, 1})}, {meeting({0, 1}), receive(0)}}),
      "rank 0 in send waits for rank 1; rank 1 in sum waits for rank 0");
}

TEST(DeadlockTest, PartnersMustMeanTheSame) {
  EXPECT_EQ(findDeadlock({{send(1, "8 bytes")}, {receive(0, "4 bytes")}}),
            "rank 0 in send passes 8 bytes, but rank 1 in receive passes "
            "4 bytes");
  EXPECT_EQ(findDeadlock({{meeting({0, 1}, "sum")}, {meeting({0, 1}, "max")}}),
            "rank 0 in sum and rank 1 in sum meet in sum and max");
}

/// A value of another micro-batch is another value.
TEST(DeadlockTest, PartnersMeanTheSameMicroBatch) {
  Event sent = send(1), received = receive(0);
  sent.microBatch = received.microBatch = 2;
  EXPECT_EQ(findDeadlock({{sent}, {received}}), "");
  received.microBatch = 3;
  EXPECT_EQ(findDeadlock({{sent}, {received}}),
            "rank 0 in send passes x of micro-batch 2, but rank 1 in receive "
            "passes x of micro-batch 3");
}

} // namespace
