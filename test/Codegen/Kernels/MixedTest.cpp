//===- MixedTest.cpp - bf16 storage ---------------------------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

class Mixed : public ::testing::TestWithParam<int64_t> {
protected:
  static constexpr int64_t rows = 5;
  int64_t cols = GetParam();
  LoadedKernels kernels = LoadedKernels::compile(
      instantiate("mixed.mlir.in",
                  {{"R", std::to_string(rows)}, {"C", std::to_string(cols)}}));
};

TEST_P(Mixed, AddsInFloatAndRoundsOnce) {
  auto x = Array<bfloat16>::random(rows * cols, 1);
  auto y = Array<bfloat16>::random(rows * cols, 2);
  auto b = Array<bfloat16>::random(cols, 3);
  Array<bfloat16> half(rows * cols), expectedHalf(rows * cols);
  Array<float> full(rows * cols), expectedFull(rows * cols), sum(rows);
  std::vector<double> sums(rows);
  for (int64_t i = 0; i < rows * cols; ++i) {
    expectedFull[i] = float(x[i]) + float(y[i]) + float(b[i % cols]);
    expectedHalf[i] = expectedFull[i];
    sums[i / cols] += float(expectedHalf[i]);
  }
  runIn(kernels["residual"],
        {x.data(), y.data(), b.data(), half.data(), full.data(), sum.data()},
        {}, {0, 2, rows});
  EXPECT_TRUE(sameBits(full, expectedFull));
  EXPECT_TRUE(sameBits(half, expectedHalf));
  EXPECT_TRUE(near(sum, sums, 1e-5));
}

TEST_P(Mixed, BFloat16ArithmeticRoundsEveryOp) {
  auto x = Array<bfloat16>::random(rows * cols, 1);
  Array<bfloat16> y(rows * cols);
  std::vector<double> expected(rows * cols);
  for (int64_t i = 0; i < rows * cols; ++i)
    expected[i] = std::exp(double(float(bfloat16(float(x[i]) + 1.0f))));
  runIn(kernels["direct"], {x.data(), y.data()}, {}, {0, rows});
  EXPECT_TRUE(near(y, expected, 1.0 / 256));
}

TEST_P(Mixed, ColumnSum) {
  auto x = Array<bfloat16>::random(rows * cols, 1);
  Array<float> sum(cols), expected(cols);
  for (int64_t i = 0; i < rows * cols; ++i)
    expected[i % cols] += float(x[i]);
  runIn(kernels["column_sum"], {x.data(), sum.data()}, {}, {0, cols});
  EXPECT_TRUE(sameBits(sum, expected)) << "rows are added in order";
}

TEST(MixedSpecial, RoundingOfSpecialValues) {
  auto kernels = LoadedKernels::compile(
      instantiate("mixed.mlir.in", {{"R", "1"}, {"C", "6"}}));
  Array<bfloat16> x(6), y(6), b(6), half(6);
  Array<float> full(6), sum(1);
  float values[] = {INFINITY, -INFINITY, NAN, 3.3e38f, -0.0f, 1e-40f};
  for (int i = 0; i < 6; ++i)
    x[i] = y[i] = values[i];
  x[2].bits = 0x7FC0;
  y[2].bits = 0x7FC0;
  runIn(kernels["residual"],
        {x.data(), y.data(), b.data(), half.data(), full.data(), sum.data()},
        {}, {0, 1});
  EXPECT_EQ(half[0].bits, 0x7F80);
  EXPECT_EQ(half[1].bits, 0xFF80);
  EXPECT_TRUE(std::isnan(float(half[2])));
  EXPECT_EQ(half[3].bits, 0x7F80);
  EXPECT_EQ(float(half[4]), 0.0f);
  EXPECT_EQ(half[5].bits, bfloat16(2 * float(bfloat16(1e-40f))).bits);
}

INSTANTIATE_TEST_SUITE_P(Columns, Mixed, ::testing::Values(1, 7, 17, 100, 768));
