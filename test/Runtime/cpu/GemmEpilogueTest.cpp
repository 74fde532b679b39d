//===- GemmEpilogueTest.cpp - GELU and sums beside a matrix product -------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Types {
  int64_t ab, c;
};
const Types kAllTypes[] = {{TSR_DTYPE_F32, TSR_DTYPE_F32},
                           {TSR_DTYPE_BF16, TSR_DTYPE_F32},
                           {TSR_DTYPE_BF16, TSR_DTYPE_BF16},
                           {TSR_DTYPE_F64, TSR_DTYPE_F64}};
} // namespace

/// Small integers times 1/4: sums are exact in every type.
static std::vector<Buffer> quarters(const std::vector<int64_t> &dtypes,
                                    const std::vector<int64_t> &sizes) {
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < sizes.size(); ++i) {
    buffers.emplace_back(dtypes[i], sizes[i]);
    buffers[i].fillIntegers(unsigned(i), 2);
    for (int64_t at = 0; at < sizes[i]; ++at)
      buffers[i].set(at, buffers[i].get(at) / 4);
  }
  return buffers;
}

static double geluTanh(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/// Uses central differences, which is another way than the runtime's.
static double geluTanhSlope(double x) {
  constexpr double step = 1e-5;
  return (geluTanh(x + step) - geluTanh(x - step)) / (2 * step);
}

/// Returns one rounding of a function to the type of C, and f32 arithmetic.
static double epilogueTolerance(int64_t dtype) {
  return dtype == TSR_DTYPE_BF16  ? std::ldexp(1, -8)
         : dtype == TSR_DTYPE_F32 ? 1e-5
                                  : 1e-9;
}

static void checkGelu(Types types, bool isGrad, int threads) {
  constexpr int64_t m = 9, n = 21, k = 16, ldaux = 24, ldc = 22;
  std::vector<Buffer> x =
      quarters({types.ab, types.ab, types.c, types.c, types.c},
               {m * k, k * n, m * ldc, n, m * ldaux});
  const Buffer before = x[4];
  std::vector<int64_t> args = {m, n,        k,       k, n, ldc, 0, 0,
                               0, types.ab, types.c, 1, 0, 0,   0};
  args.resize(TSR_GEMM_ARGS);
  args[TSR_GEMM_EPILOGUE] =
      isGrad ? TSR_GEMM_EPILOGUE_GELU_GRAD : TSR_GEMM_EPILOGUE_GELU;
  args[TSR_GEMM_LD_AUX] = ldaux;
  void *buffers[] = {x[0].data(), x[1].data(),
                     x[2].data(), isGrad ? nullptr : x[3].data(),
                     x[4].data(), nullptr};
  std::string error;
  ASSERT_EQ(cpuGemm(threads, buffers, args.data(), &error), 0) << error;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = isGrad ? 0 : x[3].get(j);
      for (int64_t d = 0; d < k; ++d)
        sum += x[0].get(i * k + d) * x[1].get(d * n + j);
      const double aux = isGrad ? before.get(i * ldaux + j) : sum;
      const double wanted = isGrad ? sum * geluTanhSlope(aux) : geluTanh(sum);
      ASSERT_EQ(x[4].get(i * ldaux + j), aux);
      ASSERT_NEAR(x[2].get(i * ldc + j), wanted,
                  epilogueTolerance(types.c) * std::max(1.0, std::abs(wanted)));
    }
}

TEST(GemmEpilogue, AppliesGeluAndItsGradient) {
  for (const Types &types : kAllTypes)
    for (bool isGrad : {false, true})
      for (int threads : {1, 3})
        checkGelu(types, isGrad, threads);
}

TEST(GemmEpilogue, SumsAnOperandOverTheTerms) {
  constexpr int64_t m = 6, n = 11, k = 50;
  for (const Types &types : kAllTypes)
    for (int flags = 0; flags < 8; ++flags) {
      const bool transA = flags & 1, transB = flags & 2, isA = flags & 4;
      std::vector<Buffer> x = quarters({types.ab, types.ab, types.c, types.c},
                                       {m * k, k * n, m * n, std::max(m, n)});
      std::vector<int64_t> args = {
          m,      n,      k, transA ? m : k, transB ? k : n, n,
          transA, transB, 1, types.ab,       types.c,        1};
      args.resize(TSR_GEMM_ARGS);
      args[TSR_GEMM_SUMS] = isA ? TSR_GEMM_SUMS_A : TSR_GEMM_SUMS_B;
      void *buffers[] = {x[0].data(), x[1].data(), x[2].data(),
                         nullptr,     nullptr,     x[3].data()};
      std::string error;
      ASSERT_EQ(cpuGemm(2, buffers, args.data(), &error), 0) << error;
      for (int64_t i = 0; i < (isA ? m : n); ++i) {
        double sum = 0;
        for (int64_t d = 0; d < k; ++d)
          sum += isA ? x[0].get(transA ? d * m + i : i * k + d)
                     : x[1].get(transB ? i * k + d : d * n + i);
        ASSERT_EQ(x[3].get(i), sum) << flags;
      }
    }
}

TEST(GemmEpilogue, RefusesEpiloguesThatItCannotDo) {
  const auto refusal = [](std::vector<std::pair<int, int64_t>> changes) {
    std::vector<int64_t> args = {4, 5, 6, 6, 5, 5, 0, 0, 0, 0, 0, 1};
    args.resize(TSR_GEMM_ARGS);
    float any = 0;
    for (auto [index, value] : changes)
      args[size_t(index)] = value;
    void *buffers[6] = {&any, &any, &any, &any, &any, nullptr};
    std::string error;
    EXPECT_NE(cpuGemm(1, buffers, args.data(), &error), 0);
    return error;
  };
  EXPECT_EQ(refusal({{TSR_GEMM_EPILOGUE, 3}}),
            "gemm: epilogue 3 with sums 0; there are gelu (1) and gelu_grad "
            "(2), or sums of a (1) or b (2)");
  EXPECT_EQ(refusal({{TSR_GEMM_EPILOGUE, 1}, {TSR_GEMM_BATCH, 2}}),
            "gemm: gelu of a batch of 2; it must be 1");
  EXPECT_EQ(refusal({{TSR_GEMM_EPILOGUE, 2}, {TSR_GEMM_LD_AUX, 5}}),
            "gemm: gelu_grad cannot have a bias");
  EXPECT_EQ(refusal({{TSR_GEMM_EPILOGUE, 1}, {TSR_GEMM_ACCUMULATE, 1}}),
            "gemm: gelu cannot have an accumulator");
  EXPECT_EQ(refusal({{TSR_GEMM_EPILOGUE, 1}, {TSR_GEMM_LD_AUX, 4}}),
            "gemm: leading dimension of aux is 4, at least 5 is needed");
  EXPECT_EQ(refusal({{TSR_GEMM_SUMS, 1}}), "gemm: sums cannot have a bias");
}
