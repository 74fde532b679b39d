//===- StepDerivativeTest.cpp - where rounding decides a derivative -------===//

#include "lib/Verify/StepDerivative.h"
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;

namespace {

using Elements = std::vector<int64_t>;
constexpr double kAllowed = 1e-3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Gradients 1 and -0.5; rounding has the second input on either side.
const StepGradient kBelow = {{1, 0}, {1, -0.5}, {3, -1e-9}};
const StepGradient kAbove = {{1, -0.5}, {1, -0.5}, {3, 1e-9}};

TEST(StepDerivative, TakesElementsThatRoundingMovedAcross) {
  EXPECT_EQ(elementsAtStep(kBelow, kAbove, kAllowed), Elements{1});
  EXPECT_EQ(elementsAtStep(kAbove, kBelow, kAllowed), Elements{1});
  EXPECT_EQ(elementsAtStep(kAbove, kAbove, kAllowed), Elements{});
  EXPECT_EQ(elementsAtStep({}, {}, kAllowed), Elements{});
}

TEST(StepDerivative, CountsZeroItselfAsBelow) {
  StepGradient zero = kBelow;
  zero.input[1] = 0;
  EXPECT_EQ(elementsAtStep(zero, kAbove, kAllowed), Elements{1});
  EXPECT_EQ(elementsAtStep(zero, kBelow, kAllowed), Elements{});
}

TEST(StepDerivative, RefusesInputsOnTheSameSide) {
  StepGradient wrong = kAbove;
  wrong.result[1] = 0; // its input is above 0, however near
  EXPECT_FALSE(elementsAtStep(kAbove, wrong, kAllowed));
}

TEST(StepDerivative, RefusesResultsThatDoNotFollowTheirInput) {
  StepGradient wrong = kAbove;
  wrong.result[1] = -0.4;
  EXPECT_FALSE(elementsAtStep(kBelow, wrong, kAllowed));
  wrong.result[1] = kNaN;
  EXPECT_FALSE(elementsAtStep(kBelow, wrong, kAllowed));
  wrong = kBelow;
  wrong.result[1] = 0.1;
  EXPECT_FALSE(elementsAtStep(wrong, kAbove, kAllowed));
}

TEST(StepDerivative, RefusesOneWrongElementBesideOneAtTheStep) {
  StepGradient wrong = kAbove;
  wrong.result[0] = 0.5;
  EXPECT_FALSE(elementsAtStep(kBelow, wrong, kAllowed));
}

TEST(StepDerivative, FindsInputsAwayFromTheStep) {
  Doubt doubt{0, "x", {0, 2}, 1e-2};
  EXPECT_EQ(firstAwayFromStep({1e-2, 9, -1e-3}, doubt), -1);
  EXPECT_EQ(firstAwayFromStep({1e-3, 0, 2e-2}, doubt), 2);
  EXPECT_EQ(firstAwayFromStep({kNaN, 0, 0}, doubt), 0);
}

} // namespace
