//===- AlignedPartsTest.cpp - parts of a product are the product ----------===//

#include "runtime/cuda/products/AlignedParts.h"
#include "test/Runtime/cpu/TestBuffer.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::cuda;
using tessera::test::Buffer;

namespace {

struct Case {
  int64_t m, n, k;
  bool transA, transB, accumulate, hasBias;
};

struct Operands {
  explicit Operands(const Case &c, int64_t dtypeC)
      : a(TSR_DTYPE_BF16, c.m * c.k + 3 * std::max(c.m, c.k)),
        b(TSR_DTYPE_BF16, c.k * c.n + 3 * std::max(c.k, c.n)),
        result(dtypeC, c.m * (c.n + 3)), bias(dtypeC, c.n) {
    // Small integers: sums are exact in every order.
    a.fillIntegers(1, 1);
    b.fillIntegers(2, 1);
    result.fillIntegers(3, 3);
    bias.fillIntegers(4, 3);
    problem.m = c.m;
    problem.n = c.n;
    problem.k = c.k;
    problem.lda = (c.transA ? c.m : c.k) + 3;
    problem.ldb = (c.transB ? c.k : c.n) + 3;
    problem.ldc = c.n + 3;
    problem.transA = c.transA;
    problem.transB = c.transB;
    problem.accumulate = c.accumulate;
    problem.dtypeAB = TSR_DTYPE_BF16;
    problem.dtypeC = dtypeC;
    problem.batch = 1;
    problem.a = a.data();
    problem.b = b.data();
    problem.c = result.data();
    problem.bias = c.hasBias ? bias.data() : nullptr;
  }
  GemmProblem problem{};
  Buffer a, b, result, bias;
};

void compare(const Case &c, int64_t dtypeC) {
  Operands whole(c, dtypeC), parted(c, dtypeC);
  std::string error;
  ASSERT_EQ(blockedGemm(1, whole.problem, &error), 0) << error;
  const std::vector<GemmProblem> parts = alignedParts(parted.problem, 1);
  for (const GemmProblem &part : parts)
    ASSERT_EQ(blockedGemm(1, part, &error), 0) << error;
  EXPECT_TRUE(whole.result == parted.result)
      << "m " << c.m << " n " << c.n << " k " << c.k << " trans " << c.transA
      << c.transB << " accumulate " << c.accumulate << " bias " << c.hasBias;
  const int odd =
      (c.m > 8 && c.m % 8) + (c.n > 8 && c.n % 8) + (c.k > 8 && c.k % 8);
  EXPECT_EQ(int(parts.size()), 1 + odd);
  const GemmProblem &last = parts.back();
  for (int64_t size : {last.m, last.n, last.k})
    EXPECT_TRUE(size <= 8 || size % 8 == 0) << size;
}

TEST(AlignedParts, AreTheWholeProduct) {
  for (int64_t dtypeC : {TSR_DTYPE_F32, TSR_DTYPE_BF16})
    for (int flags = 0; flags < 16; ++flags)
      for (auto [m, n, k] : {std::array<int64_t, 3>{17, 24, 16},
                             {16, 25, 16},
                             {16, 24, 31},
                             {9, 10, 11},
                             {3, 5, 7},
                             {8, 16, 24}})
        compare({m, n, k, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
                 (flags & 8) != 0},
                dtypeC);
}

TEST(AlignedParts, SmallOrOtherProductsStayWhole) {
  Operands x({17, 25, 31, false, false, false, false}, TSR_DTYPE_F32);
  EXPECT_EQ(alignedParts(x.problem).size(), 1u);
  EXPECT_EQ(alignedParts(x.problem, 17 * 25 * 31 + 1).size(), 1u);
  EXPECT_EQ(alignedParts(x.problem, 17 * 25 * 31).size(), 4u);
  for (auto change :
       {+[](GemmProblem &p) { p.dtypeAB = TSR_DTYPE_F32; },
        +[](GemmProblem &p) { p.batch = 2; },
        +[](GemmProblem &p) { p.sumsOf = TSR_GEMM_SUMS_B; },
        +[](GemmProblem &p) { p.epilogue = TSR_GEMM_EPILOGUE_GELU; }}) {
    GemmProblem changed = x.problem;
    change(changed);
    EXPECT_EQ(alignedParts(changed, 1).size(), 1u);
  }
}

} // namespace
