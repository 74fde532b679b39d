//===- LargestChoiceTest.cpp - where rounding chooses the largest ---------===//

#include "lib/Verify/LargestChoice.h"
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;

namespace {

using Elements = std::vector<int64_t>;
constexpr int64_t kColumns = 3;
constexpr double kAllowed = 1e-3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Two tokens; one expert each. Of the second token's logits rounding has one
/// of two larger.
const Choice kFirst = {{1, 0, 0, 0, 1, 0}, {3, 1, 2, 0, 5.01, 5}};
const Choice kSecond = {{1, 0, 0, 0, 0, 1}, {3, 1, 2, 0, 5, 5.01}};

std::optional<Elements> elementsOf(const Choice &serial,
                                   const Choice &parallel) {
  return elementsOfOtherChoice(serial, parallel, kColumns, kAllowed);
}

TEST(LargestChoice, TakesRowsThatRoundingChoseDifferently) {
  EXPECT_EQ(elementsOf(kFirst, kSecond), (Elements{4, 5}));
  EXPECT_EQ(elementsOf(kSecond, kFirst), (Elements{4, 5}));
  EXPECT_EQ(elementsOf(kFirst, kFirst), Elements{});
  EXPECT_EQ(elementsOf({}, {}), Elements{});
}

TEST(LargestChoice, TakesEqualLogits) {
  Choice first = kFirst, second = kSecond;
  first.logits[4] = second.logits[5] = 5;
  EXPECT_EQ(elementsOf(first, second), (Elements{4, 5}));
}

TEST(LargestChoice, RefusesWhatIsNotTheLargestOfItsOwnLogits) {
  Choice wrong = kSecond;
  wrong.logits = kFirst.logits;
  EXPECT_FALSE(elementsOf(kFirst, wrong));
  EXPECT_FALSE(elementsOf(wrong, kFirst));
}

TEST(LargestChoice, RefusesAnotherGateOfTheSameChoice) {
  Choice wrong = kSecond;
  wrong.gates[0] = 0.9;
  EXPECT_FALSE(elementsOf(kFirst, wrong));
  wrong.gates[0] = kNaN;
  EXPECT_FALSE(elementsOf(kFirst, wrong));
}

TEST(LargestChoice, RefusesWhatIsNoNumber) {
  Choice wrong = kSecond;
  wrong.gates[5] = kNaN;
  EXPECT_FALSE(elementsOf(kFirst, wrong));
  wrong = kSecond;
  wrong.logits[3] = kNaN;
  EXPECT_FALSE(elementsOf(kFirst, wrong));
}

TEST(LargestChoice, F64MustHaveThemNearEachOther) {
  Doubt doubt = {0, "logits", {1, 2, 4, 5}, 0.1, kColumns};
  EXPECT_EQ(firstAwayFromTie({9, 2, 2.05, 0, 5, 4.95}, doubt), -1);
  EXPECT_EQ(firstAwayFromTie({9, 2, 2.05, 0, 5, 4.85}, doubt), 5);
  EXPECT_EQ(firstAwayFromTie({9, 2, kNaN, 0, 5, 5}, doubt), 2);
}

} // namespace
