//===- LossTest.cpp - softmax and cross-entropy ---------------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

namespace {

/// Rows begin every `stride` elements; what is between them is NaN.
template <typename T> struct CrossEntropy {
  int64_t rows, cols, stride;
  Array<T> x;
  Array<int32_t> labels;
  std::vector<double> loss, lse, max, softmax;
  LoadedKernels kernels;

  CrossEntropy(int64_t rows, int64_t cols, int64_t stride, const char *type)
      : rows(rows), cols(cols), stride(stride),
        x(Array<T>::random(rows * stride, 1, -9, 9)), labels(rows), loss(rows),
        lse(rows), max(rows, -1e30), softmax(rows * cols),
        kernels(LoadedKernels::compile(text(type))) {
    for (int64_t r = 0; r < rows; ++r) {
      std::fill(&x[r * stride + cols], &x[r * stride] + stride, NAN);
      labels[r] = r % 4 == 3 ? -1 : (r * 7919 + 11) % cols;
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c)
        max[r] = std::max(max[r], double(x[r * stride + c]));
      for (int64_t c = 0; c < cols; ++c)
        sum += std::exp(x[r * stride + c] - max[r]);
      lse[r] = max[r] + std::log(sum);
      loss[r] = labels[r] < 0 ? 0 : lse[r] - x[r * stride + labels[r]];
      for (int64_t c = 0; c < cols; ++c)
        softmax[r * cols + c] = std::exp(x[r * stride + c] - lse[r]);
    }
  }

  std::string text(const std::string &type) const {
    std::string r = std::to_string(rows), c = std::to_string(cols);
    std::string contiguous =
        instantiate("cross-entropy.mlir.in", {{"R", r}, {"C", c}, {"T", type}});
    return stride == cols
               ? contiguous
               : withRowStride(contiguous, r + "x" + c + "x" + type, stride);
  }

  /// Removes the elements between the rows.
  Array<T> columnsOf(const Array<T> &plane) const {
    Array<T> columns(rows * cols);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(plane.data() + r * stride, cols, columns.data() + r * cols);
    return columns;
  }

  void checkForward(double tolerance) {
    const int64_t offset = 1000;
    Array<int32_t> shifted(rows);
    for (int64_t r = 0; r < rows; ++r)
      shifted[r] = labels[r] < 0 ? -1 : labels[r] + offset;
    Array<T> outLoss(rows), outLse(rows), outMax(rows);
    runIn(kernels["forward"],
          {x.data(), shifted.data(), outLoss.data(), outLse.data(),
           outMax.data()},
          {offset}, {0, rows / 2, rows});
    EXPECT_TRUE(near(outMax, max, 0));
    EXPECT_TRUE(near(outLse, lse, tolerance));
    EXPECT_TRUE(near(outLoss, loss, tolerance));
  }

  void checkBackward(double tolerance) {
    Array<T> in(x), g(rows), scale(1), out(x.size());
    scale[0] = 0.25;
    std::vector<double> expected(rows * cols);
    for (int64_t r = 0; r < rows; ++r) {
      g[r] = lse[r];
      for (int64_t c = 0; c < cols; ++c)
        expected[r * cols + c] =
            labels[r] < 0 ? 0
                          : 0.25 * (softmax[r * cols + c] - (c == labels[r]));
    }
    runIn(kernels["backward"],
          {x.data(), g.data(), labels.data(), scale.data(), out.data()}, {},
          {0, rows});
    EXPECT_TRUE(near(columnsOf(out), expected, tolerance));
    runIn(kernels["backward"],
          {in.data(), g.data(), labels.data(), scale.data(), in.data()}, {},
          {0, rows});
    EXPECT_TRUE(sameBits(columnsOf(in), columnsOf(out))) << "in place";
  }

  void checkSoftmax(double tolerance) {
    Array<T> out(x.size()), in(x);
    runIn(kernels["softmax"], {x.data(), out.data()}, {}, {0, rows});
    EXPECT_TRUE(near(columnsOf(out), softmax, tolerance));
  }
};

template <typename T>
void checkAll(int64_t cols, int64_t stride, const char *type,
              double tolerance) {
  CrossEntropy<T> test(/*rows=*/6, cols, stride, type);
  test.checkForward(tolerance);
  test.checkBackward(tolerance);
  test.checkSoftmax(tolerance);
}

} // namespace

class Loss : public ::testing::TestWithParam<int64_t> {};

TEST_P(Loss, MatchesReference) {
  checkAll<float>(GetParam(), GetParam(), "f32", 3e-6);
  checkAll<double>(GetParam(), GetParam(), "f64", 1e-13);
}

TEST_P(Loss, PaddingOfRowsDoesNotCount) {
  int64_t stride = (GetParam() / 8 + 1) * 8;
  checkAll<float>(GetParam(), stride, "f32", 3e-6);
  checkAll<double>(GetParam(), stride, "f64", 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Columns, Loss,
                         ::testing::Values(1, 7, 17, 100, 1024, 50257));
