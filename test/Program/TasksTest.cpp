//===- TasksTest.cpp - the tasks of pipeline stages -----------------------===//

#include "tessera/Program/Program.h"
#include <gtest/gtest.h>

using namespace tessera::program;

namespace {

Pipeline oneStage(std::vector<Task> tasks, std::vector<TaskRun> runs) {
  Pipeline pipeline;
  pipeline.stages = 1;
  pipeline.microBatches = 3;
  pipeline.tasks = {std::move(tasks)};
  pipeline.order = {std::move(runs)};
  return pipeline;
}

const Task kForward{0, 2, "F0", false}, kLast{2, 4, "F0", true};

TEST(Tasks, RunsAreWrittenOutByMicroBatch) {
  auto stages = oneStage({kForward, kLast}, {{2, 0}, {1, 1}}).stageTasks();
  ASSERT_TRUE(stages);
  std::vector<std::pair<int64_t, int64_t>> order;
  for (TaskEntry entry : stages->front().order)
    order.push_back({entry.task, entry.microBatch});
  EXPECT_EQ(order,
            (std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 1}, {1, 2}}));
}

TEST(Tasks, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(oneStage({kLast, kForward}, {}).stageTasks());
  EXPECT_FALSE(oneStage({{3, 2, "F0", false}}, {}).stageTasks());
  for (const TaskRun &run :
       std::vector<TaskRun>{{}, {1}, {0, 0}, {4, 0}, {1, 2}, {2, 1}})
    EXPECT_FALSE(oneStage({kForward, kLast}, {run}).stageTasks()) << run.size();
  Pipeline endless = oneStage({kForward}, {{int64_t(1) << 40, 0}});
  endless.microBatches = int64_t(1) << 40;
  EXPECT_FALSE(endless.stageTasks());
  Pipeline two = oneStage({kForward}, {});
  two.stages = 2;
  EXPECT_FALSE(two.stageTasks());
  two.order.reset();
  EXPECT_FALSE(two.stageTasks());
}

} // namespace
