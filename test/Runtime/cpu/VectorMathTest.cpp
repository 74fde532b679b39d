//===- VectorMathTest.cpp - Vector exp, transposition, conversions --------===//
// Compiled for the baseline; the other targets run the same code, and the
// attention tests run on all of them.

#define TESSERA_CPU_TARGET vectortest
#include "runtime/cpu/VectorMath.h"
#include "runtime/cpu/VectorDropout.h"

#include "runtime/support/Philox.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::vectortest;

template <typename T> static double worstExp(double from, double to) {
  double worst = 0;
  for (int i = 0; i <= 200000; ++i) {
    const T x = T(from + (to - from) * i / 200000);
    const double got = exponential(broadcast(x))[0], want = std::exp(double(x));
    if (std::isnan(got))
      return got; // fmax forgets it
    worst = std::fmax(worst, std::fabs(got - want) / want);
  }
  return worst;
}

TEST(VectorMath, ExponentialIsAccurate) {
  EXPECT_LT(worstExp<float>(-87.2, 88.2), 2e-7);
  EXPECT_LT(worstExp<float>(-1, 1), 2e-7);
  EXPECT_LT(worstExp<double>(-707, 708), 4e-16);
}

TEST(VectorMath, ExponentialAtTheEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exponential(broadcast(0.0f))[0], 1.0f);
  EXPECT_EQ(exponential(broadcast(-infinity))[0], 0.0f);
  EXPECT_EQ(exponential(broadcast(-100.0f))[0], 0.0f);
  EXPECT_GT(exponential(broadcast(infinity))[0], 2e38f);
  EXPECT_TRUE(std::isnan(exponential(broadcast(std::nanf("")))[0]));
  EXPECT_EQ(exponential(broadcast(0.0))[0], 1.0);
  EXPECT_EQ(exponential(broadcast(-double(infinity)))[0], 0.0);
  EXPECT_TRUE(std::isnan(exponential(broadcast(std::nan("")))[0]));
}

template <typename T> static void expectTransposed() {
  Vec<T> square[kLanes<T>];
  for (int i = 0; i < kLanes<T>; ++i)
    for (int j = 0; j < kLanes<T>; ++j)
      square[i][j] = T(100 * i + j);
  transpose<T>(square);
  for (int i = 0; i < kLanes<T>; ++i)
    for (int j = 0; j < kLanes<T>; ++j)
      EXPECT_EQ(square[i][j], T(100 * j + i));
}

TEST(VectorMath, Transposes) {
  expectTransposed<float>();
  expectTransposed<double>();
}

TEST(VectorMath, BfloatRoundsToNearestEven) {
  EXPECT_EQ(floatToBf16(1.0f).bits, 0x3f80);
  EXPECT_EQ(floatToBf16(1.00390625f).bits, 0x3f80); // tie, to even
  EXPECT_EQ(floatToBf16(1.01171875f).bits, 0x3f82); // tie, to even
  EXPECT_EQ(floatToBf16(1.00390637f).bits, 0x3f81); // above the tie
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(std::nanf("")))));
  const float values[] = {0.0f, -0.0f, 3.14159f, -1e38f, 1e-40f, 3.4e38f};
  for (float x : values) {
    Bf16 lanes[kLanes<float>];
    NarrowStore<Bf16, float>::to(lanes, broadcast(x));
    EXPECT_EQ(lanes[1].bits, floatToBf16(x).bits) << x;
    EXPECT_EQ((WideLoad<float, Bf16>::from(lanes)[1]), bf16ToFloat(lanes[1]));
  }
  Bf16 lanes[kLanes<float>];
  NarrowStore<Bf16, float>::to(lanes, broadcast(std::nanf("")));
  EXPECT_TRUE(std::isnan(bf16ToFloat(lanes[0])));
}

TEST(VectorMath, DropoutLanesEqualScalarPhilox) {
  DropoutRule d{};
  d.active = true;
  d.threshold = 0x60000000u;
  d.key = 0x123456789abcdef0u;
  for (uint64_t first : {uint64_t(0), uint64_t(0xfffffff0u), uint64_t(1) << 40})
    for (uint64_t stride : {uint64_t(1), uint64_t(1000), uint64_t(1) << 33}) {
      const auto singles = KeepLanes<float>(d, first - 5, stride).keep(5);
      const auto doubles = KeepLanes<double>(d, first - 5, stride).keep(5);
      for (int i = 0; i < kLanes<float>; ++i)
        EXPECT_EQ(singles[i] != 0,
                  philox(first + uint64_t(i) * stride, d.key) >= d.threshold);
      for (int i = 0; i < kLanes<double>; ++i)
        EXPECT_EQ(doubles[i], int64_t(singles[i]));
    }
}
