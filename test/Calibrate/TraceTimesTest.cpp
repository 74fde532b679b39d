//===- TraceTimesTest.cpp - what traces say of calls ----------------------===//

#include "lib/Calibrate/TraceTimes.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

struct Call {
  int rank, op;
  double begin, duration; ///< Microseconds.
};

std::string traceOf(const std::vector<Call> &calls) {
  std::string events = R"({"ph": "M", "name": "process_name", "pid": 0})";
  for (const Call &call : calls)
    events +=
        llvm::formatv(R"(, {{"ph": "X", "pid": {0}, "tid": 0, "ts": {1}, )"
                      R"("dur": {2}, "args": {{"op": {3}}})",
                      call.rank, call.begin, call.duration, call.op);
  return R"({"traceEvents": [)" + events + "]}";
}

/// Adds a step. Returns whether its trace can be read.
static bool adds(TraceTimes &times, llvm::StringRef text) {
  return llvm::toString(times.add(text)).empty();
}

TEST(TraceTimesTest, MediansAreOfAllRanksAndSteps) {
  TraceTimes times;
  EXPECT_TRUE(times.isEmpty());
  ASSERT_TRUE(
      adds(times, traceOf({{0, 0, 0, 10}, {0, 1, 12, 4}, {1, 0, 0, 20}})));
  ASSERT_TRUE(adds(times, traceOf({{0, 0, 0, 30}})));
  EXPECT_FALSE(times.isEmpty());
  std::map<int64_t, double> medians = times.medians();
  ASSERT_EQ(medians.size(), 2u);
  EXPECT_DOUBLE_EQ(medians[0], 20e-6);
  EXPECT_DOUBLE_EQ(medians[1], 4e-6);
  EXPECT_NEAR(times.betweenCalls(), 2e-6, 1e-12);
}

/// Rank 0 waits for rank 1 in its first call of op 3, and rank 1 for rank 0 in
/// the second one.
TEST(TraceTimesTest, TheLastRankDoesNotWait) {
  TraceTimes times;
  ASSERT_TRUE(adds(
      times,
      traceOf({{0, 3, 0, 50}, {0, 3, 60, 5}, {1, 3, 43, 7}, {1, 3, 50, 15}})));
  EXPECT_DOUBLE_EQ(times.mediansOfLastRank()[3], 7e-6); // between 5 and 7
}

/// Each of three steps has another call that takes 9 times as long. No median
/// says so, but every step takes longer than the sum of the medians.
TEST(TraceTimesTest, HeldUpCallsCountInTheSum) {
  TraceTimes times;
  for (int held = 0; held < 3; ++held) {
    std::vector<Call> calls;
    for (int op = 0; op < 4; ++op)
      calls.push_back({0, op, 1000.0 * op, op == held ? 90.0 : 10.0});
    ASSERT_TRUE(adds(times, traceOf(calls)));
  }
  std::map<int64_t, double> medians = times.medians();
  for (const auto &[op, seconds] : medians)
    EXPECT_DOUBLE_EQ(seconds, 10e-6) << op;
  EXPECT_NEAR(times.sumOverMedians(medians), 3, 1e-9);
  medians.erase(0); // is not counted
  EXPECT_NEAR(times.sumOverMedians(medians), 110 / 30., 1e-9);
  EXPECT_EQ(times.sumOverMedians({}), 1);
}

TEST(TraceTimesTest, WhatIsNoTraceIsAnError) {
  TraceTimes times;
  EXPECT_FALSE(adds(times, "{"));
  EXPECT_FALSE(adds(times, "[]"));
  EXPECT_TRUE(times.isEmpty());
}

} // namespace
