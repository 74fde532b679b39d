//===- RowSumsTest.cpp - rows, and sums over all of them ------------------===//
// Only CUDA kernels do both. Inputs are small integers, whose sums are exact in
// any order, except for the softmax.
//===----------------------------------------------------------------------===//

#include "test/Codegen/Kernels/ColumnSums.h"
#include <cmath>
#include <limits>

namespace {

constexpr const char *file = "row-sums.mlir.in";
constexpr unsigned limit = 2; ///< largest integer

/// Inputs of `phases`, and what it must give.
template <typename T> struct Phases {
  Array<T> x, s, w, old, y, dot, sumX, sumY, top;

  explicit Phases(Shape shape)
      : x(integers<T>(shape.size(), 1, limit)),
        s(integers<T>(shape.rows, 2, limit)),
        w(integers<T>(shape.cols, 3, limit)),
        old(integers<T>(shape.cols, 4, limit)), y(x.size()), dot(s.size()),
        sumX(old), sumY(old.size()), top(old.size()) {
    for (int64_t c = 0; c < shape.cols; ++c)
      top[c] = -std::numeric_limits<T>::infinity();
    for (int64_t r = 0; r < shape.rows; ++r)
      addRow(shape, r);
  }

  void addRow(Shape shape, int64_t r) {
    const T *row = x.data() + r * shape.cols;
    for (int64_t c = 0; c < shape.cols; ++c)
      dot[r] += row[c] * w[c];
    for (int64_t c = 0; c < shape.cols; ++c) {
      T value = row[c] * w[c] - dot[r];
      y[r * shape.cols + c] = value;
      sumX[c] += row[c] * s[r];
      sumY[c] += value;
      top[c] = std::max(top[c], value);
    }
  }
};

template <typename T> void checkPhases(Shape shape) {
  Phases<T> wanted(shape);
  auto kernels = LoadedKernels::compile(textOf<T>(file, shape));
  auto run = [&](Array<T> &x, Array<T> &old, Array<T> &y, Array<T> &sumX) {
    Array<T> dot(shape.rows), sumY(shape.cols), top(shape.cols);
    runIn(kernels["phases"],
          {x.data(), wanted.s.data(), wanted.w.data(), old.data(), y.data(),
           dot.data(), sumX.data(), sumY.data(), top.data()},
          {}, {0, shape.rows});
    EXPECT_TRUE(sameBits(y, wanted.y) && sameBits(dot, wanted.dot));
    EXPECT_TRUE(sameBits(sumX, wanted.sumX) && sameBits(sumY, wanted.sumY));
    EXPECT_TRUE(sameBits(top, wanted.top));
  };
  Array<T> x(wanted.x), old(wanted.old), y(x.size()), sumX(old.size());
  run(x, old, y, sumX);
  run(x, old, x, old);
}

/// Rows of planes begin every `stride` elements.
void checkRounded(Shape shape, int64_t stride) {
  auto x = integers<bfloat16>(shape.rows * stride, 5, limit);
  auto w = integers<float>(shape.cols, 6, limit);
  Array<bfloat16> y(x);
  Array<float> sum(shape.cols);
  // Bits that the result in bf16 loses.
  for (int64_t c = 0; c < shape.cols; ++c)
    w[c] *= 1 + 1.0f / 1024;
  for (int64_t r = 0; r < shape.rows; ++r)
    for (int64_t c = 0; c < shape.cols; ++c) {
      float value = float(x[r * stride + c]) * w[c];
      y[r * stride + c] = value;
      sum[c] += value;
    }
  expectRounded(file, shape, stride, x, w, y, sum, shape.rows);
}

void checkSoftmax(Shape shape) {
  auto kernels = LoadedKernels::compile(textOf<float>(file, shape));
  auto x = Array<float>::random(shape.size(), 7);
  Array<float> y(x.size()), sum(shape.cols);
  std::vector<double> wantedY(x.size()), wantedSum(shape.cols);
  for (int64_t r = 0; r < shape.rows; ++r) {
    double total = 0;
    for (int64_t c = 0; c < shape.cols; ++c)
      total += std::exp(double(x[r * shape.cols + c]));
    for (int64_t c = 0; c < shape.cols; ++c) {
      size_t i = r * shape.cols + c;
      wantedY[i] = std::exp(double(x[i])) / total;
      wantedSum[c] += wantedY[i];
    }
  }
  runIn(kernels["softmax"], {x.data(), y.data(), sum.data()}, {},
        {0, shape.rows});
  EXPECT_TRUE(near(y, wantedY, 1e-6));
  EXPECT_TRUE(near(sum, wantedSum, 1e-5));
}

class RowSums : public testing::TestWithParam<Shape> {
  void SetUp() override {
    if (!getenv("TESSERA_TEST_GRID"))
      GTEST_SKIP() << "kernels of the CPU do rows or columns";
  }
};

} // namespace

TEST_P(RowSums, SumsAreExact) {
  checkPhases<float>(GetParam());
  checkPhases<double>(GetParam());
  checkRounded(GetParam(), GetParam().cols);
}

TEST_P(RowSums, PaddingOfRowsDoesNotCount) {
  checkRounded(GetParam(), (GetParam().cols / 64 + 1) * 64);
}

TEST_P(RowSums, WhatIsKeptOfARowIsItsOwn) { checkSoftmax(GetParam()); }

TEST(RowSumsImage, SaysTheWorkspaceOfItsKernels) {
  auto kernels = LoadedKernels::compileImage(textOf<float>(file, {64, 256}));
  // The three reductions of `phases`: 4 bytes for 16 blocks of 4 rows each, and
  // 256 columns.
  EXPECT_EQ(kernels.image().workspace_bytes, 3 * 16 * 256 * 4);
}

// Rows: one; fewer than warps; no multiple of those that run at once; more than
// all blocks take in one turn. Columns: of one warp, in vectors of 16 and 8
// bytes and single; of several, with and without a rest; of several steps.
INSTANTIATE_TEST_SUITE_P(Shapes, RowSums,
                         testing::Values(Shape{1, 1}, Shape{1, 40}, Shape{5, 1},
                                         Shape{3, 33}, Shape{70, 128},
                                         Shape{43, 130}, Shape{38, 31},
                                         Shape{33, 768}, Shape{9, 2052},
                                         Shape{11, 1027}, Shape{3301, 776}),
                         [](const auto &info) {
                           return std::to_string(info.param.rows) + "x" +
                                  std::to_string(info.param.cols);
                         });
