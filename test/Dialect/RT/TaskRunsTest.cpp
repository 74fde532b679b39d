//===- TaskRunsTest.cpp - orders of tasks and offsets in few words --------===//

#include "tessera/Dialect/RT/TaskRuns.h"
#include <gtest/gtest.h>
#include <random>

using namespace tessera::rt;
using List = std::vector<int64_t>;

namespace {

List expand(llvm::ArrayRef<TaskRun> runs) {
  List list;
  for (const TaskRun &run : runs)
    for (int64_t k = 0; k < run.times; ++k)
      list.insert(list.end(), run.parts.begin(), run.parts.end());
  return list;
}

List expand(llvm::ArrayRef<int64_t> values, Period period) {
  List list;
  for (int64_t k = 0; k < static_cast<int64_t>(values.size()); ++k)
    list.push_back(values[k < period.first ? k
                                           : period.first + (k - period.first) %
                                                                period.values]);
  return list;
}

/// Pieces of a few numbers, each some times.
List pieces(std::mt19937 &random) {
  List list;
  for (int piece = random() % 5; piece >= 0; --piece) {
    List numbers(random() % 6);
    for (int64_t &number : numbers)
      number = random() % 4;
    for (int times = random() % 9; times >= 0; --times)
      list.insert(list.end(), numbers.begin(), numbers.end());
  }
  return list;
}

TEST(TaskRuns, AreTheList) {
  std::mt19937 random(7);
  for (int k = 0; k < 300; ++k) {
    List list = pieces(random);
    EXPECT_EQ(expand(runsOf(list)), list) << testing::PrintToString(list);
  }
}

/// Returns 1F1B of one stage: three forward tasks, then one of each in turn,
/// then the three last backward tasks.
List steadyOrder(int64_t microBatches) {
  List list = {0, 0, 0};
  for (int64_t j = 3; j < microBatches; ++j)
    list.insert(list.end(), {0, 1, 2});
  list.insert(list.end(), {1, 2, 1, 2, 1, 2});
  return list;
}

TEST(TaskRuns, AreAsManyForManyMicroBatches) {
  for (int64_t microBatches : {8, 512}) {
    llvm::SmallVector<TaskRun> runs = runsOf(steadyOrder(microBatches));
    EXPECT_EQ(expand(runs), steadyOrder(microBatches));
    int64_t words = 0;
    for (const TaskRun &run : runs)
      words += 1 + static_cast<int64_t>(run.parts.size());
    EXPECT_LE(words, 14) << microBatches;
  }
}

TEST(Periods, LeaveTheListAsItIs) {
  std::mt19937 random(7);
  for (int k = 0; k < 300; ++k) {
    List list = pieces(random);
    Period period = periodOf(list);
    EXPECT_LE(period.stored(), static_cast<int64_t>(list.size()));
    EXPECT_EQ(expand(list, period), list) << testing::PrintToString(list);
  }
}

/// Finds the shortest period of every list by trying all of them.
TEST(Periods, AreTheShortest) {
  std::mt19937 random(8);
  for (int k = 0; k < 300; ++k) {
    List list = pieces(random);
    auto count = static_cast<int64_t>(list.size());
    int64_t least = count;
    for (int64_t first = 0; first < count; ++first)
      for (int64_t values = 1; first + values < least; ++values)
        if (expand(list, {first, values}) == list)
          least = first + values;
    EXPECT_EQ(periodOf(list).stored(), least) << testing::PrintToString(list);
  }
}

} // namespace
