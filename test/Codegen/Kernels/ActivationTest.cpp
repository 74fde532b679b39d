//===- ActivationTest.cpp - GELU and SiLU with gradients ------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

namespace {

double cdf(double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }
double pdf(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
const double kRoot = std::sqrt(2 / M_PI);
double inner(double x) { return kRoot * (x + 0.044715 * x * x * x); }
double geluTanh(double x) { return 0.5 * x * (1 + std::tanh(inner(x))); }
double geluTanhSlope(double x) {
  double t = std::tanh(inner(x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * kRoot * (1 + 3 * 0.044715 * x * x);
}
double geluErf(double x) { return x * cdf(x); }
double geluErfSlope(double x) { return cdf(x) + x * pdf(x); }
double silu(double x) { return x / (1 + std::exp(-x)); }

template <typename T> class ActivationCheck {
public:
  ActivationCheck(int64_t rows, int64_t cols, const char *type)
      : rows(rows), cols(cols), x(Array<T>::random(rows * cols, 1, -6, 6)),
        dy(Array<T>::random(rows * cols, 2)), bias(Array<T>::random(cols, 3)),
        kernels(LoadedKernels::compile(
            instantiate("activation.mlir.in", {{"R", std::to_string(rows)},
                                               {"C", std::to_string(cols)},
                                               {"T", type}}))) {}

  void check(const char *name, double (*function)(double),
             std::vector<void *> inputs, bool hasGradient, bool hasBias) {
    Array<T> y(x.size()), parts(x.size());
    std::vector<double> expected(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      expected[i] = (hasGradient ? double(dy[i]) : 1.0) *
                    function(x[i] + (hasBias ? bias[i % cols] : T(0)));
    inputs.push_back(y.data());
    runIn(kernels[name], inputs, {}, {0, rows});
    EXPECT_TRUE(near(y, expected, sizeof(T) == 4 ? 2e-6 : 1e-13)) << name;
    inputs.back() = parts.data();
    runIn(kernels[name], inputs, {}, {0, rows / 4, rows / 2, rows});
    EXPECT_TRUE(sameBits(y, parts)) << name;
  }

  void checkAll() {
    check("gelu_tanh", geluTanh, {x.data(), bias.data()}, false, true);
    check("gelu_tanh_gradient", geluTanhSlope, {dy.data(), x.data()}, true,
          false);
    check("gelu_erf", geluErf, {x.data()}, false, false);
    check("gelu_erf_gradient", geluErfSlope, {dy.data(), x.data()}, true,
          false);
    check("silu", silu, {x.data()}, false, false);
  }

private:
  int64_t rows, cols;
  Array<T> x, dy, bias;
  LoadedKernels kernels;
};

} // namespace

class Activation : public ::testing::TestWithParam<int64_t> {};

TEST_P(Activation, MatchesReference) {
  ActivationCheck<float>(9, GetParam(), "f32").checkAll();
  ActivationCheck<double>(5, GetParam(), "f64").checkAll();
}

INSTANTIATE_TEST_SUITE_P(Columns, Activation,
                         ::testing::Values(1, 7, 17, 100, 3072));
