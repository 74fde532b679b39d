//===- WindowsTest.cpp - what is computed beside communication ------------===//

#include "tools/tessera/report/Windows.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

/// Call n computes one op of 10^n flops.
ProgramWork program(int64_t calls) {
  ProgramWork work;
  double flops = 1;
  for (int64_t call = 0; call < calls; ++call, flops *= 10)
    work.add({1, flops});
  return work;
}

void expectInside(const std::vector<Window> &windows, int64_t ops,
                  double flops) {
  Work work = program(6).inside(windows);
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
  EXPECT_EQ(ProgramWork().inside({{0, 1}}).ops, 0);
}

} // namespace
