//===- FewRowsTest.cpp - products of few rows -----------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "tessera/abi.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tessera;

namespace {

struct Product {
  int64_t m, n, k;
  bool transB, hasBias, accumulate;

  std::vector<float> a, b, bias, start;

  /// Rows of A and C and of B lie further apart than they are long.
  int64_t lda() const { return k + 3; }
  int64_t ldb() const { return (transB ? k : n) + 5; }
  int64_t ldc() const { return n + 2; }

  void fill() {
    std::mt19937 engine(static_cast<uint32_t>(m * 7 + n + k));
    std::normal_distribution<float> normal;
    auto random = [&](int64_t count) {
      std::vector<float> values(count);
      for (float &x : values)
        x = normal(engine);
      return values;
    };
    a = random(m * lda());
    b = random((transB ? n : k) * ldb());
    bias = random(n);
    start = random(m * ldc());
  }

  std::vector<float> run(int64_t rows, int threads) const {
    std::vector<float> c = start;
    int64_t args[TSR_GEMM_ARGS] = {};
    args[TSR_GEMM_M] = rows;
    args[TSR_GEMM_N] = n;
    args[TSR_GEMM_K] = k;
    args[TSR_GEMM_LDA] = lda();
    args[TSR_GEMM_LDB] = ldb();
    args[TSR_GEMM_LDC] = ldc();
    args[TSR_GEMM_TRANS_B] = transB;
    args[TSR_GEMM_ACCUMULATE] = accumulate;
    args[TSR_GEMM_BATCH] = 1;
    void *buffers[] = {const_cast<float *>(a.data()),
                       const_cast<float *>(b.data()),
                       c.data(),
                       hasBias ? const_cast<float *>(bias.data()) : nullptr,
                       nullptr,
                       nullptr};
    std::string error;
    EXPECT_EQ(cpuGemm(threads, buffers, args, &error), 0) << error;
    return c;
  }

  double expected(int64_t i, int64_t j) const {
    double sum = (accumulate ? start[i * ldc() + j] : 0.0f) +
                 double(hasBias ? bias[j] : 0.0f);
    for (int64_t l = 0; l < k; ++l)
      sum += double(a[i * lda() + l]) *
             double(transB ? b[j * ldb() + l] : b[l * ldb() + j]);
    return sum;
  }
};

/// What lies between rows of C stays as it is.
void check(const Product &p) {
  std::vector<float> c = p.run(p.m, 1);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j)
      ASSERT_NEAR(c[i * p.ldc() + j], p.expected(i, j),
                  2e-5 * std::sqrt(double(p.k)))
          << p.m << "x" << p.n << "x" << p.k << " at " << i << ", " << j;
    EXPECT_EQ(c[i * p.ldc() + p.n], p.start[i * p.ldc() + p.n]);
  }
  EXPECT_EQ(c, p.run(p.m, 3)) << "threads change bits";
  std::vector<float> first = p.run(1, 2);
  EXPECT_EQ(std::memcmp(first.data(), c.data(), p.n * sizeof(float)), 0)
      << "other rows change bits";
}

TEST(FewRows, EqualTheReferenceOnEveryTarget) {
  for (CpuTarget target :
       {CpuTarget::Baseline, CpuTarget::Avx2, CpuTarget::Avx512}) {
    setCpuTarget(target);
    for (int64_t m : {1, 2, 3, 4, 5, 8})
      for (int64_t n : {64, 67, 200})
        for (int64_t k : {1, 7, 96, 333})
          for (int flags = 0; flags < 8; ++flags) {
            Product p{m,
                      n,
                      k,
                      (flags & 1) != 0,
                      (flags & 2) != 0,
                      (flags & 4) != 0,
                      {},
                      {},
                      {},
                      {}};
            p.fill();
            check(p);
          }
  }
  setCpuTarget(bestCpuTarget());
}

/// Two threads and more.
TEST(FewRows, LargeOnesAreShared) {
  for (bool transB : {false, true}) {
    Product p{2, 1000, 301, transB, true, false, {}, {}, {}, {}};
    p.fill();
    check(p);
  }
}

} // namespace
