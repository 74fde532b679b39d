//===- FewRowsTest.cpp - products of few rows -----------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/CpuKernels.h"
#include "test/Runtime/cpu/TestBuffer.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Types {
  int64_t factors, result;
  bool int8B = false;
  int64_t ofB() const { return int8B ? int64_t(TSR_DTYPE_I8) : factors; }
};
constexpr Types kF32 = {TSR_DTYPE_F32, TSR_DTYPE_F32};
constexpr Types kBf16 = {TSR_DTYPE_BF16, TSR_DTYPE_BF16};
constexpr Types kWidened = {TSR_DTYPE_BF16, TSR_DTYPE_F32};
constexpr Types kInt8 = {TSR_DTYPE_F32, TSR_DTYPE_F32, true};
constexpr Types kF64Int8 = {TSR_DTYPE_F64, TSR_DTYPE_F64, true};
constexpr Types kBf16Int8 = {TSR_DTYPE_BF16, TSR_DTYPE_F32, true};

class Product {
public:
  Product(Types types, int64_t m, int64_t n, int64_t k, int flags)
      : m(m), n(n), k(k), transB(flags & 1), hasBias(flags & 2),
        accumulate(flags & 4), types(types), a(types.factors, m * lda()),
        b(types.ofB(), (transB ? n : k) * ldb()), bias(types.result, n),
        start(types.result, m * ldc()) {
    const auto seed = static_cast<unsigned>(m * 7 + n + k);
    a.fillNormal(seed);
    if (types.int8B)
      b.fillIntegers(seed + 1, 127);
    else
      b.fillNormal(seed + 1);
    bias.fillNormal(seed + 2);
    start.fillNormal(seed + 3);
    computeWanted();
  }

  Buffer run(int64_t rows, int threads) {
    Buffer c = start;
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
    args[TSR_GEMM_DTYPE_AB] = types.factors;
    args[TSR_GEMM_DTYPE_C] = types.result;
    args[TSR_GEMM_INT8_B] = types.int8B;
    void *buffers[] = {a.data(), b.data(),
                       c.data(), hasBias ? bias.data() : nullptr,
                       nullptr,  nullptr};
    std::string error;
    EXPECT_EQ(cpuGemm(threads, buffers, args, &error), 0) << error;
    return c;
  }

  /// Checks that bytes between rows of C stay as they are.
  Buffer checkValues() {
    Buffer c = run(m, 1);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(c.get(i * ldc() + j), wanted[i * n + j],
                    tolerance(wanted[i * n + j]))
            << m << "x" << n << "x" << k << " at " << i << ", " << j;
      EXPECT_EQ(c.get(i * ldc() + n), start.get(i * ldc() + n));
    }
    return c;
  }

  void check() {
    Buffer c = checkValues();
    EXPECT_TRUE(c == run(m, 3)) << "threads change bits";
    Buffer first = run(1, 2);
    EXPECT_EQ(std::memcmp(first.data(), c.data(),
                          n * Buffer::elementBytes(types.result)),
              0)
        << "other rows change bits";
  }

private:
  /// Rows of A and C and of B lie further apart than they are long.
  int64_t lda() const { return k + 3; }
  int64_t ldb() const { return (transB ? k : n) + 5; }
  int64_t ldc() const { return n + 2; }

  void computeWanted() {
    std::vector<double> row(n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        wanted.push_back((accumulate ? start.get(i * ldc() + j) : 0) +
                         (hasBias ? bias.get(j) : 0));
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j)
        row[j] = b.get(transB ? j * ldb() + l : l * ldb() + j);
      for (int64_t i = 0; i < m; ++i) {
        const double factor = a.get(i * lda() + l);
        for (int64_t j = 0; j < n; ++j)
          wanted[i * n + j] += factor * row[j];
      }
    }
  }

  /// Bounds the error of sums in f32; a bf16 result is rounded once, by at most
  /// 2^-8 of it.
  double tolerance(double result) const {
    const double sums = (types.int8B ? 2e-3 : 2e-5) * std::sqrt(double(k));
    return types.result == TSR_DTYPE_BF16 ? sums + std::fabs(result) / 256
                                          : sums;
  }

  int64_t m, n, k;
  bool transB, hasBias, accumulate;
  Types types;
  Buffer a, b, bias, start;
  std::vector<double> wanted;
};

/// Calls `check` on every target.
template <typename Check> void onEveryTarget(const Check &check) {
  for (CpuTarget target :
       {CpuTarget::Baseline, CpuTarget::Avx2, CpuTarget::Avx512}) {
    setCpuTarget(target);
    check();
  }
  setCpuTarget(bestCpuTarget());
}

TEST(FewRows, EqualTheReferenceOnEveryTarget) {
  for (Types types : {kF32, kBf16, kWidened})
    for (int64_t m : {1, 2, 3, 4, 5, 8})
      for (int64_t n : {64, 67, 200})
        for (int64_t k : {1, 7, 96, 333})
          for (int flags = 0; flags < 8; ++flags) {
            Product product(types, m, n, k, flags);
            onEveryTarget([&] { product.check(); });
          }
}

/// Columns fill strips of several vectors, single ones and none.
TEST(FewRows, IntegersEqualTheReferenceOnEveryTarget) {
  for (Types types : {kInt8, kBf16Int8})
    for (int64_t m : {1, 2, 3, 4, 7})
      for (int64_t n : {67, 330})
        for (int flags : {0, 1, 6, 7}) {
          Product product(types, m, n, 143, flags);
          onEveryTarget([&] { product.check(); });
        }
}

/// Two threads and more; columns and terms in several blocks.
TEST(FewRows, LargeOnesAreShared) {
  for (Types types : {kF32, kBf16, kWidened})
    for (int flags : {2, 3})
      Product(types, 2, 4200, 301, flags).check();
  for (Types types : {kF32, kBf16, kWidened, kInt8, kBf16Int8})
    for (int64_t m : {2, 5})
      for (int flags : {2, 3})
        Product(types, m, 200, 4200, flags).check();
}

/// More rows than a few: blocks of integers are widened into packed panels.
TEST(FewRows, IntegersWithManyRowsEqualTheReference) {
  for (Types types : {kInt8, kBf16Int8, kF64Int8})
    for (int flags : {0, 1, 3, 6}) {
      Product product(types, 21, 67, 401, flags);
      onEveryTarget([&] { product.checkValues(); });
    }
}

TEST(FewRows, IntegersAreForPlainProducts) {
  int64_t args[TSR_GEMM_ARGS] = {2, 2, 2, 2, 2, 2};
  args[TSR_GEMM_BATCH] = 2;
  args[TSR_GEMM_INT8_B] = 1;
  void *buffers[6] = {};
  std::string error;
  EXPECT_NE(cpuGemm(1, buffers, args, &error), 0);
  EXPECT_NE(error.find("b of i8 in a batch of 2"), std::string::npos) << error;
}

} // namespace
