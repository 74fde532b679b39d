//===- OptimizerTest.cpp - AdamW, sums of squares, row and scalar kernels -===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

namespace {

template <typename T>
LoadedKernels compileFor(int64_t rows, int64_t cols, const char *type) {
  return LoadedKernels::compile(instantiate(
      "optimizer.mlir.in",
      {{"R", std::to_string(rows)}, {"C", std::to_string(cols)}, {"T", type}}));
}

template <typename T>
void checkAdamW(int64_t rows, int64_t cols, const char *type,
                double tolerance) {
  auto kernels = compileFor<T>(rows, cols, type);
  size_t n = rows * cols;
  auto p = Array<T>::random(n, 1), m = Array<T>::random(n, 2),
       v = Array<T>::random(n, 3, 0, 1), g = Array<T>::random(n, 4);
  Array<T> lr(1), c1(1), c2(1);
  lr[0] = 1e-2;
  c1[0] = 1 / (1 - 0.9);
  c2[0] = 1 / (1 - 0.95);
  std::vector<double> p1(n), m1(n), v1(n);
  for (size_t i = 0; i < n; ++i) {
    m1[i] = 0.9 * m[i] + 0.1 * g[i];
    v1[i] = 0.95 * v[i] + 0.05 * double(g[i]) * g[i];
    double u = m1[i] * c1[0] / (std::sqrt(v1[i] * c2[0]) + 1e-8);
    p1[i] = p[i] - lr[0] * (u + 0.1 * p[i]);
  }
  Array<T> po(n), mo(n), vo(n);
  runIn(kernels["adamw"],
        {p.data(), m.data(), v.data(), g.data(), lr.data(), c1.data(),
         c2.data(), po.data(), mo.data(), vo.data()},
        {}, {0, rows});
  EXPECT_TRUE(near(po, p1, tolerance));
  EXPECT_TRUE(near(mo, m1, tolerance));
  EXPECT_TRUE(near(vo, v1, tolerance));
  runIn(kernels["adamw"],
        {p.data(), m.data(), v.data(), g.data(), lr.data(), c1.data(),
         c2.data(), p.data(), m.data(), v.data()},
        {}, {0, rows / 3, rows});
  EXPECT_TRUE(sameBits(p, po) && sameBits(m, mo) && sameBits(v, vo))
      << "in place, two ranges";
}

} // namespace

class Optimizer : public ::testing::TestWithParam<int64_t> {};

TEST_P(Optimizer, AdamWMatchesReference) {
  checkAdamW<float>(1, GetParam(), "f32", 1e-6);
  checkAdamW<float>(7, GetParam(), "f32", 1e-6);
  checkAdamW<double>(3, GetParam(), "f64", 1e-14);
}

TEST_P(Optimizer, SumOfSquaresOfOneRow) {
  auto kernels = compileFor<float>(1, GetParam(), "f32");
  auto x = Array<float>::random(GetParam(), 1);
  Array<float> sum(1);
  double expected = 0;
  for (size_t i = 0; i < x.size(); ++i)
    expected += double(x[i]) * x[i];
  runIn(kernels["sum_of_squares"], {x.data(), sum.data()}, {}, {0, 1});
  EXPECT_TRUE(near(sum, {expected}, 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Columns, Optimizer,
                         ::testing::Values(1, 7, 17, 100, 4096, 100003));

TEST(Rows, LanesRunOverRows) {
  const int64_t rows = 205;
  auto kernels = compileFor<float>(rows, 3, "f32");
  auto x = Array<float>::random(rows, 1);
  Array<float> k(1), y(rows), parts(rows);
  k[0] = 3;
  std::vector<double> expected(rows);
  for (int64_t i = 0; i < rows; ++i)
    expected[i] = 3 * x[i] + i;
  runIn(kernels["scale_rows"], {x.data(), k.data(), y.data()}, {}, {0, rows});
  EXPECT_TRUE(near(y, expected, 1e-6));
  runIn(kernels["scale_rows"], {x.data(), k.data(), parts.data()}, {},
        {0, 1, 70, 70, 99, rows});
  EXPECT_TRUE(sameBits(y, parts));
}

TEST(Rows, EmptyRangeWritesNothing) {
  auto kernels = compileFor<float>(8, 3, "f32");
  auto x = Array<float>::random(24, 1);
  Array<float> sum(8);
  runIn(kernels["sum_of_squares"], {x.data(), sum.data()}, {}, {5, 5});
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(sum[i], 0.0f);
}

TEST(Scalars, ClipFactor) {
  auto kernels = compileFor<float>(2, 3, "f32");
  Array<float> norm(1), factor(1);
  norm[0] = 16;
  runIn(kernels["clip_factor"], {norm.data(), factor.data()}, {}, {0, 1});
  EXPECT_EQ(factor[0], 0.25f);
  norm[0] = 0.25;
  runIn(kernels["clip_factor"], {norm.data(), norm.data()}, {}, {0, 1});
  EXPECT_EQ(norm[0], 1.0f);
}
