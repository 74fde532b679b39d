//===- TraceTest.cpp - what a trace says of an op -------------------------===//
#include "runtime/device/Trace.h"
#include "runtime/artifact/Metadata.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;
using nlohmann::json;

namespace {

/// Returns the arguments of the program's ops in a trace of one rank that ran
/// them.
std::vector<json> traced(const RankTrace &rank) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "trace.json";
  writeTrace(path, parseMetadata("x", fixture::stagedMetadata().dump()),
             {&rank});
  std::vector<json> arguments;
  json trace = json::parse(fixture::readFile(path));
  for (const json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      arguments.push_back(event["args"]);
  return arguments;
}

RankTrace ranThese(const std::vector<int64_t> &ops) {
  RankTrace rank;
  for (int64_t op : ops)
    rank.program.events.push_back(
        {op, OpTrace::Clock::now(), OpTrace::Clock::now()});
  return rank;
}

TEST(Trace, NamesTaskAndMicroBatch) {
  RankTrace rank = ranThese({4, 4, 5, 6, 5, 6, 7, 9});
  rank.background.events = rank.program.events; // a thread of its own
  std::vector<json> expected = {{{"op", 4}, {"micro_batch", 0}, {"task", "F1"}},
                                {{"op", 4}, {"micro_batch", 1}, {"task", "F1"}},
                                {{"op", 5}, {"micro_batch", 0}, {"task", "B1"}},
                                {{"op", 6}, {"micro_batch", 0}},
                                {{"op", 5}, {"micro_batch", 1}, {"task", "B1"}},
                                {{"op", 6}, {"micro_batch", 1}},
                                {{"op", 7}},
                                {{"op", 9}}};
  std::vector<json> twice = expected;
  twice.insert(twice.end(), expected.begin(), expected.end());
  EXPECT_EQ(traced(rank), twice);
}

TEST(Trace, GuessesNoMicroBatch) {
  RankTrace rank = ranThese({4, 2});
  rank.program.isComplete = false; // one may be missing before these
  std::vector<json> expected = {{{"op", 4}, {"task", "F1"}},
                                {{"op", 2}, {"task", "F0"}}};
  EXPECT_EQ(traced(rank), expected);
}

TEST(Trace, TakesMemoryBeforeTheStep) {
  RankTrace rank(100);
  EXPECT_GE(rank.program.events.capacity(), 100u);
  EXPECT_GE(rank.background.events.capacity(), 100u);
}

} // namespace
