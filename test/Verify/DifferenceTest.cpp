//===- DifferenceTest.cpp - how far two runs are apart --------------------===//

#include "lib/Verify/Difference.h"
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloor = 1e-3;

TEST(Difference, IsRelativeToTheLargestElement) {
  Difference difference = differenceOf({1, -4.5, 2}, {1, -4, 2}, kFloor);
  EXPECT_EQ(difference.largest, 4);
  EXPECT_EQ(difference.error, 0.5);
  EXPECT_EQ(difference.relative(), 0.125);
  EXPECT_FALSE(difference.hasNaN());
  EXPECT_EQ(differenceOf({0}, {0}, kFloor).largest, kFloor);
}

/// Whatever comes after it: a comparison with NaN is false.
TEST(Difference, KeepsNaNOfOneRun) {
  for (size_t at : {0, 1, 2}) {
    std::vector<double> numbers = {1, 2, 3}, withNaN = numbers;
    withNaN[at] = kNaN;
    Difference found = differenceOf(withNaN, numbers, kFloor);
    EXPECT_TRUE(std::isnan(found.error));
    EXPECT_EQ(found.foundNaN, static_cast<int64_t>(at));
    EXPECT_EQ(found.wantedNaN, -1);
    Difference wanted = differenceOf(numbers, withNaN, kFloor);
    EXPECT_TRUE(std::isnan(wanted.error));
    EXPECT_EQ(wanted.wantedNaN, static_cast<int64_t>(at));
    EXPECT_EQ(wanted.foundNaN, -1);
  }
}

TEST(Difference, TakesNaNBesideNaNForADifference) {
  Difference difference = differenceOf({1, kNaN, 3}, {1, kNaN, 3}, kFloor);
  EXPECT_TRUE(difference.hasNaN());
  EXPECT_TRUE(std::isnan(difference.relative()));
  EXPECT_EQ(difference.largest, 3);
}

TEST(Difference, TakesTheSameInfinityForEqual) {
  EXPECT_EQ(differenceOf({-kInfinity, 1}, {-kInfinity, 1}, kFloor).error, 0);
  EXPECT_EQ(differenceOf({1, 1}, {-kInfinity, 1}, kFloor).error, kInfinity);
  EXPECT_FALSE(
      differenceOf({kInfinity, 1}, {-kInfinity, 1}, kFloor).relative() <= 1);
}

TEST(Difference, LargerOfKeepsNaN) {
  EXPECT_TRUE(std::isnan(largerOf(kNaN, 1)));
  EXPECT_TRUE(std::isnan(largerOf(1, kNaN)));
  EXPECT_EQ(largerOf(1, 2), 2);
  EXPECT_EQ(largerOf(2, 1), 2);
}

} // namespace
