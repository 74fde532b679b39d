//===- WindowsTest.cpp - what is computed beside communication ------------===//

#include "tessera/Report/Windows.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

/// Call n computes one op of 10^n flops.
ProgramWork programOf(int64_t calls) {
  ProgramWork work;
  double flops = 1;
  for (int64_t call = 0; call < calls; ++call, flops *= 10)
    work.add({1, flops}, 1);
  return work;
}

void expectInside(const std::vector<Window> &windows, int64_t ops,
                  double flops) {
  ProgramWork all = programOf(6);
  Work work = WorkInTime(all).inside(windows);
  EXPECT_EQ(work.ops, ops);
  EXPECT_EQ(work.flops, flops);
}

TEST(Windows, CountsWhatIsInside) { expectInside({{1, 3}}, 2, 110); }

TEST(Windows, CountsOnceWhatIsInSeveral) {
  expectInside({{1, 3}, {2, 5}}, 4, 11110);
  expectInside({{2, 5}, {1, 3}}, 4, 11110);
  expectInside({{0, 6}, {1, 2}, {3, 4}, {3, 4}}, 6, 111111);
}

TEST(Windows, LeavesOutWhatIsBetween) {
  expectInside({{4, 5}, {0, 1}}, 2, 10001);
}

TEST(Windows, MayBeEmptyOrEndBehindTheProgram) {
  expectInside({}, 0, 0);
  expectInside({{3, 3}}, 0, 0);
  expectInside({{3, 2}}, 0, 0);
  expectInside({{5, 99}, {77, 99}}, 1, 100000);
}

TEST(Windows, ProgramsMayBeEmpty) {
  ProgramWork empty;
  EXPECT_EQ(WorkInTime(empty).inside({{0, 1}}).ops, 0);
}

/// Call 0; task 0 of calls 1 and 2 and task 1 of calls 3 and 4 for
/// micro-batches 0 and 1, in the order 0 0 1 1; call 5. Call n computes 10^n
/// flops.
ProgramWork pipelineStage() {
  program::StageTasks tasks{{{1, 3, "F0"}, {3, 5, "B0"}},
                            {{0, 0}, {0, 1}, {1, 0}, {1, 1}}};
  ProgramWork work(tasks);
  double flops = 1;
  for (int64_t call = 0; call < 6; ++call, flops *= 10)
    work.add({1, flops}, call > 0 && call < 5 ? 2 : 1);
  return work;
}

Work insideOfStage(const std::vector<Window> &windows) {
  ProgramWork stage = pipelineStage();
  return WorkInTime(stage).inside(windows);
}

TEST(WindowsOfTasks, AreOfOneMicroBatch) {
  // Twice from call 1 to call 2.
  EXPECT_EQ(insideOfStage({{1, 2}}).flops, 20);
  // From call 2 of a micro-batch to its call 3, with the tasks in between:
  // together call 2, calls 1 and 2 of the second, calls 3 and 4 of the first.
  Work work = insideOfStage({{2, 3}});
  EXPECT_EQ(work.flops, 100 + 110 + 11000);
  EXPECT_EQ(work.ops, 5);
}

TEST(WindowsOfTasks, MayLeaveTheTasks) {
  EXPECT_EQ(insideOfStage({{0, 5}}).flops, 1 + 220 + 22000);
  EXPECT_EQ(insideOfStage({{0, 1}}).flops, 1);
  EXPECT_EQ(insideOfStage({{5, 6}}).flops, 100000);
}

} // namespace
