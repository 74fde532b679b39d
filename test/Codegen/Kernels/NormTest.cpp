//===- NormTest.cpp - layer norm, forward and backward --------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

namespace {

struct Shape {
  int64_t rows, cols;
};

template <typename T> const char *typeName();
template <> const char *typeName<float>() { return "f32"; }
template <> const char *typeName<double>() { return "f64"; }

/// Inputs, and the reference in double.
template <typename T> struct LayerNorm {
  int64_t rows, cols;
  Array<T> x, dy, residual, w, b;
  std::vector<double> y, mean, rstd, dx, dw, db;

  explicit LayerNorm(Shape shape)
      : rows(shape.rows), cols(shape.cols), x(Array<T>::random(rows * cols, 1)),
        dy(Array<T>::random(rows * cols, 2)),
        residual(Array<T>::random(rows * cols, 3)),
        w(Array<T>::random(cols, 4)), b(Array<T>::random(cols, 5)),
        y(rows * cols), mean(rows), rstd(rows), dx(rows * cols), dw(cols),
        db(cols) {
    for (int64_t r = 0; r < rows; ++r)
      row(r);
  }

  void row(int64_t r) {
    double sum = 0, squares = 0, m0 = 0, m1 = 0;
    for (int64_t c = 0; c < cols; ++c)
      sum += x[r * cols + c];
    double m = mean[r] = sum / cols;
    for (int64_t c = 0; c < cols; ++c)
      squares += (x[r * cols + c] - m) * (x[r * cols + c] - m);
    double s = rstd[r] = 1 / std::sqrt(squares / cols + 1e-5);
    for (int64_t c = 0; c < cols; ++c) {
      double hat = (x[r * cols + c] - m) * s, g = dy[r * cols + c];
      y[r * cols + c] = hat * w[c] + b[c];
      dw[c] += g * hat;
      db[c] += g;
      m0 += g * w[c] / cols;
      m1 += g * w[c] * hat / cols;
    }
    for (int64_t c = 0; c < cols; ++c) {
      double hat = (x[r * cols + c] - m) * s, g = dy[r * cols + c];
      dx[r * cols + c] =
          s * (g * w[c] - m0 - hat * m1) + residual[r * cols + c];
    }
  }

  LoadedKernels kernels(unsigned vectorBits = 0) const {
    return LoadedKernels::compile(
        instantiate("layer-norm.mlir.in", {{"R", std::to_string(rows)},
                                           {"C", std::to_string(cols)},
                                           {"T", typeName<T>()}}),
        vectorBits);
  }
};

/// Returns the tolerance. A row of one element has rstd 1/sqrt(eps) = 316,
/// which scales rounding.
template <typename T> double tolerance() {
  return sizeof(T) == 4 ? 2e-5 : 1e-12;
}

template <typename T> void checkForward(Shape shape, unsigned vectorBits = 0) {
  LayerNorm<T> test(shape);
  auto kernels = test.kernels(vectorBits);
  Array<T> y(test.x.size()), mean(test.rows), rstd(test.rows);
  runIn(kernels["forward"],
        {test.x.data(), test.w.data(), test.b.data(), y.data(), mean.data(),
         rstd.data()},
        {}, {0, test.rows});
  EXPECT_TRUE(near(mean, test.mean, tolerance<T>()));
  EXPECT_TRUE(near(rstd, test.rstd, tolerance<T>()));
  EXPECT_TRUE(near(y, test.y, tolerance<T>()));

  Array<T> y2(test.x.size()), mean2(test.rows), rstd2(test.rows);
  runIn(kernels["forward"],
        {test.x.data(), test.w.data(), test.b.data(), y2.data(), mean2.data(),
         rstd2.data()},
        {}, {0, test.rows / 3, test.rows / 2, test.rows});
  EXPECT_TRUE(sameBits(y, y2) && sameBits(mean, mean2) &&
              sameBits(rstd, rstd2));
}

template <typename T> void checkBackward(Shape shape, unsigned vectorBits = 0) {
  LayerNorm<T> test(shape);
  auto kernels = test.kernels(vectorBits);
  Array<T> mean(test.rows), rstd(test.rows), dx(test.x.size());
  for (int64_t r = 0; r < test.rows; ++r) {
    mean[r] = test.mean[r];
    rstd[r] = test.rstd[r];
  }
  runIn(kernels["input_gradient"],
        {test.dy.data(), test.x.data(), mean.data(), rstd.data(), test.w.data(),
         test.residual.data(), dx.data()},
        {}, {0, test.rows});
  EXPECT_TRUE(near(dx, test.dx, tolerance<T>() * 4));

  Array<T> dw(test.cols), db(test.cols), dw2(test.cols), db2(test.cols);
  runIn(kernels["weight_gradient"],
        {test.dy.data(), test.x.data(), mean.data(), rstd.data(), dw.data(),
         db.data()},
        {}, {0, test.cols});
  EXPECT_TRUE(near(dw, test.dw, tolerance<T>() * 4));
  EXPECT_TRUE(near(db, test.db, tolerance<T>()));
  runIn(kernels["weight_gradient"],
        {test.dy.data(), test.x.data(), mean.data(), rstd.data(), dw2.data(),
         db2.data()},
        {}, {0, test.cols / 7, test.cols / 2, test.cols});
  EXPECT_TRUE(sameBits(dw, dw2) && sameBits(db, db2));

  Array<T> sum(test.w);
  runIn(kernels["bias_gradient"], {test.dy.data(), sum.data(), sum.data()}, {},
        {0, test.cols});
  std::vector<double> expected(test.cols);
  for (int64_t c = 0; c < test.cols; ++c)
    expected[c] = test.w[c] + test.db[c];
  EXPECT_TRUE(near(sum, expected, tolerance<T>()));
}

} // namespace

class Norm : public ::testing::TestWithParam<int64_t> {};

TEST_P(Norm, ForwardMatchesReference) {
  checkForward<float>({5, GetParam()});
  checkForward<double>({4, GetParam()});
}

TEST_P(Norm, BackwardMatchesReference) {
  checkBackward<float>({5, GetParam()});
  checkBackward<double>({4, GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Columns, Norm,
                         ::testing::Values(1, 7, 16, 17, 64, 100, 768));

TEST(NormShapes, WideRow) { checkForward<float>({2, 50257}); }
TEST(NormShapes, SquarePlane) {
  checkForward<float>({48, 48});
  checkBackward<float>({48, 48});
}
TEST(NormShapes, NarrowerVectors) {
  for (unsigned bits : {128, 256}) {
    checkForward<float>({3, 100}, bits);
    checkBackward<float>({3, 100}, bits);
    checkBackward<double>({3, 100}, bits);
  }
}
