//===- FitRatesTest.cpp - rates of a machine from timed calls -------------===//

#include "lib/Calibrate/FitRates.h"
#include "tessera/Simulate/Simulate.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::simulate;

namespace {

/// Attention, or its gradient, of a machine that computes `rate` flops per
/// second, and scores of `hidden` keys in vain where there is a mask.
MeasuredCall attention(CallKind kind, std::array<int64_t, 3> shape,
                       bool isCausal, double rate, double hidden) {
  MeasuredCall measured;
  Call &call = measured.call;
  call.kind = kind;
  call.shape = shape;
  double products = kind == CallKind::Attention ? 2 : 5;
  double ofKey = 2 * products * static_cast<double>(shape[0] * shape[2]);
  auto keys = static_cast<double>(shape[1]);
  call.flops = ofKey * keys / (isCausal ? 2 : 1);
  double computed = isCausal ? std::min(keys, keys / 2 + hidden) : keys;
  measured.seconds = ofKey * computed / rate;
  return measured;
}

MeasuredProgram programWith(double hidden) {
  MeasuredProgram program;
  for (int64_t keys : {48, 96, 160, 224, 320})
    for (bool isCausal : {true, false})
      for (auto [kind, rate] : {std::pair(CallKind::Attention, 50e9),
                                std::pair(CallKind::AttentionGradient, 60e9)})
        program.calls.push_back(
            attention(kind, {10 * keys + (isCausal ? 1 : 0), keys, 64},
                      isCausal, rate, hidden));
  return program;
}

TEST(FitRatesTest, HiddenKeysAreFound) {
  for (double hidden : {0., 32.}) {
    auto devices = fitDevices({programWith(hidden)});
    const MeasuredRates &rates = devices[1].measured[Precision::F32];
    EXPECT_EQ(rates.hiddenKeys, hidden);
    ASSERT_EQ(rates.attention.points.size(), 10u);
    for (const ShapeRates::Point &point : rates.attention.points)
      EXPECT_NEAR(point.rate / 50e9, 1, 1e-9) << point.shape[1];
    for (const ShapeRates::Point &point : rates.attentionGradient.points)
      EXPECT_NEAR(point.rate / 60e9, 1, 1e-9) << point.shape[1];
  }
}

TEST(FitRatesTest, OneShapeKeepsItsTime) {
  MeasuredProgram program;
  program.calls = {attention(CallKind::Attention, {64, 32, 8}, true, 1e9, 16)};
  const MeasuredRates rates = fitDevices({program})[1].measured[Precision::F32];
  ASSERT_EQ(rates.attention.points.size(), 1u);
  EXPECT_TRUE(rates.attentionGradient.points.empty());
  EXPECT_DOUBLE_EQ(flopsWithHidden(program.calls[0].call, rates.hiddenKeys) /
                       rates.attention.points[0].rate,
                   program.calls[0].seconds);
}

} // namespace
