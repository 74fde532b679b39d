//===- GemmTest.cpp - Matrix products -------------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/GemmProblem.h"
#include "test/Runtime/cpu/AttentionCases.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Types {
  int64_t ab, c;
};

struct GemmCase {
  int64_t m, n, k;
  Types types{TSR_DTYPE_F32, TSR_DTYPE_F32};
  bool transA = false, transB = false, accumulate = false, bias = false;
  int64_t batch = 1;
  int64_t pad = 0; /* added to every leading dimension and stride */
};

const Types kAllTypes[] = {{TSR_DTYPE_F32, TSR_DTYPE_F32},
                           {TSR_DTYPE_BF16, TSR_DTYPE_F32},
                           {TSR_DTYPE_BF16, TSR_DTYPE_BF16},
                           {TSR_DTYPE_F64, TSR_DTYPE_F64}};

using Gemm = int32_t (*)(int, const GemmProblem &, std::string *);

struct GemmData {
  GemmData(const GemmCase &c, unsigned seed, int bound) : c(c) {
    lda = (c.transA ? c.m : c.k) + c.pad;
    ldb = (c.transB ? c.k : c.n) + c.pad;
    ldc = c.n + c.pad;
    strideA = (c.transA ? c.k : c.m) * lda + c.pad;
    strideB = (c.transB ? c.n : c.k) * ldb + c.pad;
    strideC = c.m * ldc + c.pad;
    a = Buffer(c.types.ab, strideA * c.batch);
    b = Buffer(c.types.ab, strideB * c.batch);
    out = Buffer(c.types.c, strideC * c.batch);
    bias = Buffer(c.types.c, c.n);
    a.fillIntegers(seed, bound);
    b.fillIntegers(seed + 1, bound);
    if (c.accumulate)
      out.fillIntegers(seed + 2, bound);
    bias.fillIntegers(seed + 3, bound);
    before = out;
  }

  std::vector<int64_t> args() const {
    return {c.m,      c.n,      c.k,          lda,        ldb,       ldc,
            c.transA, c.transB, c.accumulate, c.types.ab, c.types.c, c.batch,
            strideA,  strideB,  strideC,      0,          0,         0,
            0};
  }

  int32_t run(int threads, std::string *error) {
    void *buffers[] = {a.data(), b.data(), out.data(),
                       c.bias ? bias.data() : nullptr};
    return cpuGemm(threads, buffers, args().data(), error);
  }
  int32_t runPath(Gemm gemm, int threads, std::string *error) {
    void *buffers[] = {a.data(), b.data(), out.data(),
                       c.bias ? bias.data() : nullptr};
    GemmProblem p;
    EXPECT_EQ(decodeGemm(args().data(), buffers, &p, error), 0);
    return gemm(threads, p, error);
  }

  /// Returns the elements by row. As integers they are exact in f32, and so are
  /// their sums.
  static std::vector<float> matrixOf(const Buffer &buffer, int64_t start,
                                     int64_t rows, int64_t columns,
                                     int64_t stride, bool isTransposed) {
    std::vector<float> all;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < columns; ++n)
        all.push_back(float(buffer.get(
            start + (isTransposed ? n * stride + m : m * stride + n))));
    return all;
  }

  /// C of product i of the batch, by row.
  std::vector<float> wanted(int64_t i) const {
    const std::vector<float> left =
        matrixOf(a, i * strideA, c.m, c.k, lda, c.transA);
    const std::vector<float> right =
        matrixOf(b, i * strideB, c.k, c.n, ldb, c.transB);
    std::vector<float> all =
        c.accumulate ? matrixOf(before, i * strideC, c.m, c.n, ldc, false)
                     : std::vector<float>(size_t(c.m * c.n));
    for (int64_t m = 0; m < c.m; ++m) {
      float *row = all.data() + m * c.n;
      for (int64_t n = 0; c.bias && n < c.n; ++n)
        row[n] += float(bias.get(n));
      for (int64_t k = 0; k < c.k; ++k) {
        const float factor = left[size_t(m * c.k + k)];
        const float *other = right.data() + k * c.n;
        for (int64_t n = 0; n < c.n; ++n)
          row[n] += factor * other[n];
      }
    }
    return all;
  }

  /// Integers: equality, after one rounding to the type of C.
  void expectExact() const {
    Buffer rounded(c.types.c, 1);
    for (int64_t i = 0; i < c.batch; ++i) {
      const std::vector<float> all = wanted(i);
      for (int64_t m = 0; m < c.m; ++m)
        for (int64_t n = 0; n < c.n; ++n) {
          rounded.set(0, all[size_t(m * c.n + n)]);
          ASSERT_EQ(out.get(i * strideC + m * ldc + n), rounded.get(0))
              << "at " << i << ", " << m << ", " << n << " of " << c.m << " x "
              << c.n << " x " << c.k << (c.transA ? " A^T" : "")
              << (c.transB ? " B^T" : "") << (c.accumulate ? " +C" : "")
              << (c.bias ? " bias" : "") << " types " << c.types.ab << " "
              << c.types.c << " batch " << c.batch;
        }
    }
    for (int64_t i = 0; i < c.batch * c.m;
         ++i) { // nothing outside C is written
      const int64_t row = i / c.m * strideC + i % c.m * ldc;
      for (int64_t at = row + c.n; at < std::min(row + ldc, out.size()); ++at)
        ASSERT_EQ(std::memcmp(out.at(at), before.at(at),
                              Buffer::elementBytes(c.types.c)),
                  0);
    }
  }

  GemmCase c;
  int64_t lda, ldb, ldc, strideA, strideB, strideC;
  Buffer a, b, out, bias, before;
};
} // namespace

static std::vector<GemmCase> flagCases(int64_t m, int64_t n, int64_t k,
                                       Types types) {
  std::vector<GemmCase> cases;
  for (int flags = 0; flags < 16; ++flags) {
    GemmCase c{m, n, k, types};
    c.transA = flags & 1;
    c.transB = flags & 2;
    c.accumulate = flags & 4;
    c.bias = flags & 8;
    c.pad = flags % 3;
    cases.push_back(c);
  }
  return cases;
}

TEST(Gemm, AllFlagsTypesAndOddShapesAreExact) {
  const int64_t shapes[][3] = {{1, 1, 1},   {2, 3, 4},     {7, 65, 33},
                               {37, 16, 5}, {64, 130, 70}, {13, 1, 300},
                               {1, 70, 9}};
  for (const auto &s : shapes)
    for (Types types : kAllTypes)
      for (const GemmCase &c : flagCases(s[0], s[1], s[2], types)) {
        GemmData x(c, 1, 3);
        std::string error;
        ASSERT_EQ(x.run(2, &error), 0) << error;
        x.expectExact();
      }
}

TEST(Gemm, BlockedIsExactOnEveryTarget) {
  TargetScope restore;
  for (CpuTarget target : cpuTargets())
    for (Types types : kAllTypes)
      for (const GemmCase &c : flagCases(43, 71, 29, types)) {
        setCpuTarget(target);
        GemmData x(c, 1, 3);
        std::string error;
        ASSERT_EQ(x.runPath(blockedGemm, 2, &error), 0) << error;
        x.expectExact();
      }
}

/// Larger than every block of the blocked product.
TEST(Gemm, ManyBlocksAreExact) {
  for (Types types : kAllTypes) {
    GemmCase c{200, 900, 530, types, false, true, true, true};
    GemmData x(c, 9, 2);
    std::string error;
    ASSERT_EQ(x.runPath(blockedGemm, 2, &error), 0) << error;
    x.expectExact();
    GemmCase tall{1100, 70, 260, types, true, false, false, true};
    GemmData y(tall, 9, 2);
    ASSERT_EQ(y.runPath(blockedGemm, 3, &error), 0) << error;
    y.expectExact();
  }
}

TEST(Gemm, BatchesAreExact) {
  for (Types types : kAllTypes)
    for (const GemmCase &flags : flagCases(9, 20, 17, types)) {
      GemmCase c = flags;
      c.batch = 3;
      GemmData x(c, 4, 3);
      std::string error;
      ASSERT_EQ(x.run(2, &error), 0) << error;
      x.expectExact();
    }
}

/// oneDNN's primitives, whatever path gemm takes on this processor.
TEST(Gemm, LibraryIsExact) {
  for (Types types : {kAllTypes[0], kAllTypes[1], kAllTypes[2]}) {
    if (types.ab == TSR_DTYPE_BF16 && bestCpuTarget() != CpuTarget::Avx512)
      GTEST_SKIP() << "oneDNN has no bf16 products on this processor";
    for (int64_t batch : {1, 3})
      for (const GemmCase &flags : flagCases(21, 40, 24, types)) {
        GemmCase c = flags;
        c.batch = batch;
        for (int call = 0; call < 2; ++call) { // made, then found in the cache
          GemmData x(c, unsigned(call), 3);
          std::string error;
          ASSERT_EQ(x.runPath(libraryGemm, 2, &error), 0) << error;
          x.expectExact();
        }
      }
  }
}

/// Rows a multiple of 2 KiB apart, of operands that are copied or too large.
TEST(Gemm, RowsInTheSameCacheSetsAreExact) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{512, 70, 90},
                         {70, 1024, 90},
                         {1024, 512, 40},
                         {70, 1536, 1400}})
    for (const GemmCase &c : flagCases(m, n, k, kAllTypes[0])) {
      GemmData x(c, 6, 3);
      std::string error;
      ASSERT_EQ(x.runPath(libraryGemm, 1, &error), 0) << error;
      x.expectExact();
    }
}

/// Rank threads multiply at once, each with its own caches and team.
TEST(Gemm, SeveralRanksAtOnce) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.emplace_back([rank] {
      for (Types types : kAllTypes)
        for (int call = 0; call < 5; ++call) {
          GemmCase c{40 + rank, 50, 60, types, false, false, true, true};
          GemmData x(c, unsigned(call), 3);
          std::string error;
          ASSERT_EQ(x.run(1 + rank % 2, &error), 0) << error;
          x.expectExact();
        }
    });
  for (std::thread &rank : ranks)
    rank.join();
}

/// A stride of zero repeats a matrix; C with stride zero sums over the batch.
TEST(Gemm, ZeroStridesRepeat) {
  for (Types types : kAllTypes) {
    GemmCase c{5, 6, 7, types, false, false, true};
    GemmData x(c, 1, 2);
    std::vector<int64_t> args = x.args();
    args[TSR_GEMM_BATCH] = 3;
    args[TSR_GEMM_STRIDE_A] = args[TSR_GEMM_STRIDE_B] = 0;
    args[TSR_GEMM_STRIDE_C] = 0;
    void *buffers[] = {x.a.data(), x.b.data(), x.out.data(), nullptr};
    std::string error;
    ASSERT_EQ(cpuGemm(2, buffers, args.data(), &error), 0) << error;
    const std::vector<float> wanted = x.wanted(0);
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) {
        const double before = x.before.get(m * x.ldc + n);
        EXPECT_EQ(x.out.get(m * x.ldc + n),
                  before + 3 * (wanted[size_t(m * c.n + n)] - before));
      }
  }
}

TEST(Gemm, NoTermsGiveBiasOrZero) {
  for (Types types : kAllTypes)
    for (bool bias : {false, true}) {
      GemmCase c{5, 7, 0, types};
      c.bias = bias;
      GemmData x(c, 4, 3);
      std::string error;
      ASSERT_EQ(x.run(2, &error), 0) << error;
      x.expectExact();
    }
}

TEST(Gemm, BlockedDoesNotDependOnThreads) {
  for (Types types : kAllTypes) {
    GemmCase c{150, 333, 600, types, false, true};
    GemmData one(c, 8, 3), many(c, 8, 3);
    one.a.fillNormal(1);
    one.b.fillNormal(2);
    many.a = one.a;
    many.b = one.b;
    std::string error;
    ASSERT_EQ(one.runPath(blockedGemm, 1, &error), 0);
    for (int threads : {2, 3, 4, 6}) {
      ASSERT_EQ(many.runPath(blockedGemm, threads, &error), 0);
      EXPECT_TRUE(one.out == many.out) << threads << " threads";
    }
  }
}

static void expectSameOnThreads(const GemmCase &c) {
  GemmData one(c, 8, 3);
  one.a.fillNormal(1);
  one.b.fillNormal(2);
  std::string error;
  ASSERT_EQ(one.run(1, &error), 0) << error;
  for (int threads : {2, 3, 5, 8}) {
    GemmData many(c, 8, 3);
    many.a = one.a;
    many.b = one.b;
    ASSERT_EQ(many.run(threads, &error), 0) << error;
    EXPECT_TRUE(one.out == many.out)
        << threads << " threads, " << c.m << " x " << c.n << " x " << c.k
        << (c.transA ? " A^T" : "") << (c.transB ? " B^T" : "") << " types "
        << c.types.ab << " " << c.types.c << " batch " << c.batch;
  }
}

/// The shapes are large enough for regions, and have edges in each of them.
TEST(Gemm, BitsDoNotDependOnThreads) {
  const int64_t shapes[][3] = {{129, 182, 183}, {36, 88, 203},  {9, 70, 41},
                               {145, 64, 157},  {331, 411, 66}, {75, 160, 801},
                               {3, 300, 129},   {517, 16, 90}};
  for (Types types : kAllTypes)
    for (const auto &shape : shapes)
      for (int flags = 0; flags < 4; ++flags) {
        GemmCase c{shape[0], shape[1], shape[2], types};
        c.transA = flags & 1;
        c.transB = flags & 2;
        c.accumulate = c.bias = flags == 3;
        expectSameOnThreads(c);
        c.batch = 3;
        if (shape[0] < 100)
          expectSameOnThreads(c);
      }
}

TEST(Gemm, RepeatedCallsWithOtherBuffersAgree) {
  for (Types types : kAllTypes)
    for (int call = 0; call < 3; ++call) {
      GemmCase c{33, 48, 40, types, false, false, true, true};
      GemmData x(c, unsigned(call), 3);
      std::string error;
      ASSERT_EQ(x.run(2, &error), 0) << error;
      x.expectExact();
    }
}

TEST(Gemm, RefusesWhatItCannotDo) {
  const auto refusal = [](int index, int64_t value) {
    GemmData x(GemmCase{4, 5, 6}, 1, 1);
    std::vector<int64_t> args = x.args();
    args[size_t(index)] = value;
    void *buffers[4] = {};
    std::string error;
    EXPECT_NE(cpuGemm(1, buffers, args.data(), &error), 0);
    return error;
  };
  EXPECT_EQ(refusal(TSR_GEMM_LDA, 5),
            "gemm: leading dimension of a is 5, at least 6 is needed");
  EXPECT_EQ(refusal(TSR_GEMM_LDC, 4),
            "gemm: leading dimension of c is 4, at least 5 is needed");
  EXPECT_EQ(refusal(TSR_GEMM_M, -1),
            "gemm: negative size: m -1, n 5, k 6, batch 1");
  EXPECT_EQ(refusal(TSR_GEMM_DTYPE_C, TSR_DTYPE_F64),
            "gemm: dtypes 0 -> 2 are not supported; use f32 -> f32 (0), bf16 "
            "(1) -> bf16 or f32, f64 -> f64 (2)");
}
