//===- TasksTest.cpp - which task and micro-batch an op is of -------------===//
#include "runtime/artifact/Metadata.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;
using fixture::Change;
using fixture::stagedMetadata;
using nlohmann::json;

namespace {

std::string taskOf(const Metadata &metadata, int64_t op) {
  const TaskInfo *task = metadata.taskOf(op);
  return task ? task->name : "none";
}

TEST(Tasks, NameTheTaskAndTheMicroBatch) {
  Metadata metadata = parseMetadata("x", stagedMetadata().dump());
  const char *names[] = {"F0", "B0", "F0", "B0", "F1", "B1", "none", "none"};
  for (int64_t op = 0; op < 8; ++op)
    EXPECT_EQ(taskOf(metadata, op), names[op]) << op;
  for (int64_t op : {0, 1}) { // before the last one
    EXPECT_EQ(metadata.microBatchOf(op, 0), 0);
    EXPECT_EQ(metadata.microBatchOf(op, 1), std::nullopt);
  }
  for (int64_t op : {2, 3}) { // the last one
    EXPECT_EQ(metadata.microBatchOf(op, 0), 1);
    EXPECT_EQ(metadata.microBatchOf(op, 1), std::nullopt);
  }
  for (int64_t op : {4, 5, 6}) { // all, the third in a loop without tasks
    EXPECT_EQ(metadata.microBatchOf(op, 0), 0);
    EXPECT_EQ(metadata.microBatchOf(op, 1), 1);
    EXPECT_EQ(metadata.microBatchOf(op, 2), std::nullopt);
  }
  for (int64_t op : {-1, 7, 8}) // outside of micro-batches, or not there
    EXPECT_EQ(metadata.microBatchOf(op, 0), std::nullopt);
  EXPECT_EQ(taskOf(metadata, 8), "none");
}

TEST(Tasks, CallsOfAStepCountEveryMicroBatch) {
  Metadata metadata = parseMetadata("x", stagedMetadata().dump());
  EXPECT_EQ(metadata.callsOf(0), 4);
  EXPECT_EQ(metadata.callsOf(1), 7);
  EXPECT_EQ(parseMetadata("x", fixture::metadataOf(2, 2).dump()).callsOf(0), 8);
}

TEST(Tasks, AreNamedWithTheOp) {
  Metadata metadata = parseMetadata("x", stagedMetadata().dump());
  EXPECT_EQ(metadata.describeOp(3),
            "launch 'h.0.step3' of layer 0 (op 3, task B0, micro-batch 1)");
  EXPECT_EQ(metadata.describeOp(4),
            "all_gather 'h.0.step4' of layer 0 (op 4, task F1)");
  EXPECT_EQ(metadata.describeOp(6), "all_reduce 'h.0.step6' of layer 0 (op 6)");
}

TEST(Tasks, MayBeAbsentOrEmpty) {
  json metadata = stagedMetadata();
  metadata["pipeline"] = {{"axis", "dp"}};
  EXPECT_EQ(taskOf(parseMetadata("x", metadata.dump()), 0), "none");
  metadata["pipeline"]["tasks"] = {json::array(), json::array()};
  metadata["pipeline"]["order"] = {json::array(), json::array()};
  EXPECT_EQ(taskOf(parseMetadata("x", metadata.dump()), 0), "none");
}

TEST(Tasks, WrongOnesAreNamed) {
  struct {
    Change change;
    const char *message;
  } cases[] = {
      {[](json &p) { p.erase("order"); }, "'pipeline.order' is missing"},
      {[](json &p) { p.erase("tasks"); }, "'pipeline.tasks' is missing"},
      {[](json &p) { p["tasks"].erase(0); },
       "'pipeline.tasks' has 1 entries for the 2 stages"},
      {[](json &p) { p["order"].erase(0); },
       "'pipeline.order' has 1 entries for the 2 stages"},
      {[](json &p) { p["tasks"][1][1]["end"] = 5; },
       "'pipeline.tasks[1][1].end' is 5, must be in [1, 4]"},
      {[](json &p) { p["tasks"][1][1]["begin"] = 0; },
       "'pipeline.tasks[1][1].begin' is 0, must be in [1, 4]"},
      {[](json &p) { p["tasks"][0][0]["last"] = 1; },
       "'pipeline.tasks[0][0].last' must be true or false, it is number"},
      {[](json &p) { p["tasks"][0][0].erase("name"); },
       "'pipeline.tasks[0][0].name' is missing"},
      {[](json &p) { p["order"][1][0] = json::array({2}); },
       "'pipeline.order[1][0]' has 1 numbers, it must have how often tasks "
       "run, and the tasks"},
      {[](json &p) { p["order"][1][0][0] = 0; },
       "'pipeline.order[1][0][0]' is 0, must be in [1, 2]"},
      {[](json &p) { p["order"][1][0][0] = 3; },
       "'pipeline.order[1][0][0]' is 3, must be in [1, 2]"},
      {[](json &p) { p["order"][1][0][1] = 2; },
       "'pipeline.order[1][0][1]' is 2, must be in [0, 1]"},
      {[](json &p) {
         p["order"][1].push_back({1, 1});
       },
       "'pipeline.order[1][1]' has task 1 ('B1') 3 times, there are 2 "
       "micro-batches"},
      {[](json &p) {
         p["order"][1][0] = {1, 0, 1, 0};
       },
       "'pipeline.order[1]' has task 1 ('B1') 1 times, it must be 2"},
      {[](json &p) { p["order"][0][0] = {1, 0, 1, 0, 2, 3}; },
       "'pipeline.order[0]' has task 0 ('F0') 2 times, it must be 1"},
  };
  for (const auto &[change, message] : cases) {
    json metadata = stagedMetadata();
    change(metadata["pipeline"]);
    try {
      parseMetadata("x", metadata.dump());
      ADD_FAILURE() << message;
    } catch (const Error &error) {
      EXPECT_CONTAINS(error.what(), message);
    }
  }
}

TEST(Tasks, OpsHaveTheirStageAndTimes) {
  struct {
    Change change;
    const char *message;
  } cases[] = {
      {[](json &ops) { ops[0].erase("stage"); }, "'ops[0].stage' is missing"},
      {[](json &ops) { ops[7]["stage"] = 2; },
       "'ops[7].stage' is 2, must be in [1, 1]"},
      {[](json &ops) { ops[7]["stage"] = 0; },
       "'ops[7].stage' is 0, must be in [1, 1]"},
      {[](json &ops) { ops[6]["times"] = 0; },
       "'ops[6].times' is 0, must be in [1, 2]"},
      {[](json &ops) { ops[6]["times"] = 3; },
       "'ops[6].times' is 3, must be in [1, 2]"},
  };
  for (const auto &[change, message] : cases) {
    json metadata = stagedMetadata();
    change(metadata["ops"]);
    try {
      parseMetadata("x", metadata.dump());
      ADD_FAILURE() << message;
    } catch (const Error &error) {
      EXPECT_CONTAINS(error.what(), message);
    }
  }
}

} // namespace
