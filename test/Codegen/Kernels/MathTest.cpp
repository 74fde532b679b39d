//===- MathTest.cpp - accuracy of the expanded functions ------------------===//
// Every f32 function against libm in double, over its whole range.
//===----------------------------------------------------------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

namespace {

constexpr int64_t kCount = 1 << 16;

std::string mathText(const std::string &function) {
  return R"(
#line = affine_map<(d0) -> (d0)>
!line = tensor<65536xf32>
func.func private @f(%x: !line) -> !line attributes {rt.schedule = "row"} {
  %empty = tensor.empty() : !line
  %y = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%x : !line) outs(%empty : !line) {
  ^bb0(%a: f32, %o: f32):
    %r = math.)" +
         function + R"( %a : f32
    linalg.yield %r : f32
  } -> !line
  return %y : !line
})";
}

/// Distance in units of the last place of the expected float; below the
/// normal range, of the smallest normal number.
double ulps(float actual, double expected) {
  float rounded = float(expected);
  if (std::isnan(expected) || std::isinf(rounded) || std::isnan(actual))
    return (std::isnan(expected) && std::isnan(actual)) || actual == rounded
               ? 0
               : 1e30;
  double size = std::max(std::abs(expected), 1.17549435e-38);
  int exponent;
  std::frexp(size, &exponent);
  return std::abs(actual - expected) / std::ldexp(1.0, exponent - 24);
}

struct Range {
  double low, high;
};

void check(const char *name, double (*reference)(double),
           std::vector<Range> ranges, std::vector<float> special,
           double limit) {
  auto kernels = LoadedKernels::compile(mathText(name));
  Array<float> x(kCount), y(kCount);
  std::mt19937 engine(7);
  for (int64_t i = 0; i < kCount; ++i) {
    const Range &range = ranges[i % ranges.size()];
    x[i] = float(
        std::uniform_real_distribution<double>(range.low, range.high)(engine));
  }
  for (size_t i = 0; i < special.size(); ++i)
    x[i] = special[i];
  runIn(kernels["f"], {x.data(), y.data()}, {}, {0, kCount});
  double worst = 0;
  int64_t at = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    double distance = ulps(y[i], reference(double(x[i])));
    if (distance > worst) {
      worst = distance;
      at = i;
    }
  }
  printf("%s: %.2f ulp\n", name, worst);
  EXPECT_LE(worst, limit) << name << "(" << x[at] << ") = " << y[at] << ", not "
                          << reference(double(x[at]));
}

double rsqrt(double x) { return 1 / std::sqrt(x); }
const float kInf = INFINITY;

} // namespace

TEST(Math, Exp) {
  check("exp", std::exp, {{-104, 89}, {-1, 1}, {-88, -87}, {-20, 20}},
        {0, -0.0f, kInf, -kInf, NAN, 1000, -1000, 88.7228f, 88.73f, -87.4f}, 4);
}

TEST(Math, Log) {
  check("log", std::log, {{0, 10}, {0.9, 1.1}, {0, 1e-38}, {1e30, 3e38}},
        {0, -0.0f, kInf, -kInf, NAN, -1, 1, 1e-45f, 1.17549435e-38f}, 4);
}

TEST(Math, Tanh) {
  check("tanh", std::tanh, {{-1, 1}, {-10, 10}, {-1e-3, 1e-3}, {-100, 100}},
        {0, -0.0f, kInf, -kInf, NAN, 1e-38f, 1e-45f}, 4);
}

TEST(Math, Erf) {
  check("erf", std::erf, {{-1, 1}, {-5, 5}, {-1e-3, 1e-3}, {-100, 100}},
        {0, -0.0f, kInf, -kInf, NAN, 1e-38f}, 4);
}

TEST(Math, Rsqrt) {
  check("rsqrt", rsqrt, {{0, 10}, {0, 1e-6}, {1e10, 1e30}},
        {0, kInf, NAN, -1, 1, 4}, 4);
}

TEST(Math, Cos) {
  // Near zeros of the function the error is absolute: 1e-7.
  check("cos", std::cos, {{-0.7, 0.7}, {-0.7, 0.7}}, {0, -0.0f, kInf, NAN}, 4);
  auto kernels = LoadedKernels::compile(mathText("cos"));
  auto x = Array<float>::random(kCount, 1, -1e5, 1e5);
  Array<float> y(kCount);
  std::vector<double> expected(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    expected[i] = std::cos(double(x[i]));
  runIn(kernels["f"], {x.data(), y.data()}, {}, {0, kCount});
  EXPECT_TRUE(near(y, expected, 2e-7));
}
