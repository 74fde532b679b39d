//===- LearningRateTest.cpp - the learning rate of a step -----------------===//
// Against closed formulas, and against what PyTorch and transformers computed
// (reference/make_schedules.py).
//===----------------------------------------------------------------------===//

#include "runtime/session/LearningRate.h"
#include "test/Runtime/fixture/Fixture.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tessera;

namespace {

constexpr int64_t kFar = 1000000000000;

TEST(Schedule, WarmsUpThenFollowsTheCosine) {
  Schedule schedule{1.0, 0.1, 4, 12};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(3), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(8), 0.55);
  EXPECT_DOUBLE_EQ(schedule.at(12), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(1000000), 0.1);
}

TEST(Schedule, NoWarmUpAndNoSteps) {
  EXPECT_DOUBLE_EQ((Schedule{1.0, 0.1, 0, 10}.at(0)), 1.0);
  EXPECT_DOUBLE_EQ((Schedule{1.0, 0.1, 0, 0}.at(0)), 0.1);
}

TEST(Schedule, BiasCorrectionOfTheFirstStep) {
  EXPECT_DOUBLE_EQ(biasCorrection(0.9, 0), 1 / (1 - 0.9));
  EXPECT_DOUBLE_EQ(biasCorrection(0.9, 1), 1 / (1 - 0.9 * 0.9));
}

TEST(Schedule, LinearEndsAtTheSmallestRate) {
  Schedule schedule{1.0, 0.1, 4, 12, RateKind::Linear};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(3), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(8), 0.55);
  EXPECT_DOUBLE_EQ(schedule.at(11), 0.1 + 0.9 / 8);
  EXPECT_DOUBLE_EQ(schedule.at(12), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(kFar), 0.1);
}

TEST(Schedule, ConstantStaysAfterItsWarmUp) {
  Schedule schedule{1.0, 0.1, 4, 12, RateKind::Constant};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  for (int64_t step : {int64_t(3), int64_t(4), int64_t(12), kFar})
    EXPECT_EQ(schedule.at(step), 1.0);
}

TEST(Schedule, WarmUpStableDecay) {
  Schedule schedule{1.0, 0.1, 4, 20, RateKind::Wsd, 6};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  EXPECT_EQ(schedule.at(3), 1.0);
  EXPECT_EQ(schedule.at(13), 1.0);
  EXPECT_EQ(schedule.at(14), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(17), 0.55);
  EXPECT_DOUBLE_EQ(schedule.at(19), 0.1 + 0.9 / 6);
  EXPECT_EQ(schedule.at(20), 0.1);
  EXPECT_EQ(schedule.at(kFar), 0.1);
}

/// A tenth of 25 steps, rounded up, is 3; a warm-up of 24 leaves 1 of them.
TEST(Schedule, DecayOfATenth) {
  Schedule schedule{1.0, 0.0, 0, 25, RateKind::Wsd};
  EXPECT_EQ(schedule.at(22), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(23), 2.0 / 3);
  EXPECT_DOUBLE_EQ(schedule.at(24), 1.0 / 3);
  schedule.warmupSteps = 24;
  EXPECT_DOUBLE_EQ(schedule.at(22), 23.0 / 24);
  EXPECT_EQ(schedule.at(24), 1.0);
  EXPECT_EQ(schedule.at(25), 0.0);
  Schedule longest{1.0, 0.5, 0, INT64_MAX, RateKind::Wsd};
  EXPECT_EQ(longest.at(kFar), 1.0);
}

/// Runs of one step, and of none: the decay is the whole run.
TEST(Schedule, ShortestRuns) {
  for (RateKind kind : {RateKind::Cosine, RateKind::Linear, RateKind::Wsd}) {
    EXPECT_EQ((Schedule{1.0, 0.1, 0, 1, kind}.at(0)), 1.0);
    EXPECT_EQ((Schedule{1.0, 0.1, 0, 1, kind}.at(1)), 0.1);
    EXPECT_EQ((Schedule{1.0, 0.1, 0, 0, kind}.at(0)), 0.1);
    EXPECT_EQ((Schedule{1.0, 0.1, 1, 1, kind}.at(0)), 1.0);
  }
}

/// lr 0.02 and 400 steps of warm-up are d^-0.5 = 0.4 of Vaswani et al.
TEST(Schedule, InverseSquareRoot) {
  Schedule schedule{0.02, 0.001, 400, 0, RateKind::InverseSqrt};
  for (int64_t number : {1, 7, 399, 400, 401, 1600, 100000}) {
    double s = static_cast<double>(number);
    double published =
        0.4 * std::min(1 / std::sqrt(s), s * std::pow(400, -1.5));
    EXPECT_NEAR(schedule.at(number - 1), published, 1e-16) << number;
  }
  EXPECT_EQ(schedule.at(kFar), 0.001);
  Schedule cold{1.0, 0.0, 0, 0, RateKind::InverseSqrt};
  EXPECT_EQ(cold.at(0), 1.0);
  EXPECT_EQ(cold.at(3), 0.5);
}

/// PyTorch multiplies factors from step to step, so its last bits differ.
TEST(Schedule, EqualsPyTorchAndTransformers) {
  nlohmann::json text = nlohmann::json::parse(fixture::readFile(SCHEDULES));
  ASSERT_GE(text.at("cases").size(), 10u);
  for (const nlohmann::json &c : text.at("cases")) {
    auto kind = rateKindFromName(c.at("kind").get<std::string>());
    ASSERT_TRUE(kind.has_value());
    Schedule schedule{c.at("lr"),          c.at("min_lr"), c.at("warmup_steps"),
                      c.at("total_steps"), *kind,          c.at("decay_steps")};
    int64_t step = 0;
    for (double rate : c.at("rates"))
      EXPECT_NEAR(schedule.at(step++), rate, 1e-13 * schedule.lr)
          << c.at("source") << " step " << step - 1;
    EXPECT_GT(step, 0);
  }
}

} // namespace
