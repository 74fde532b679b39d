//===- AttentionGradientTest.cpp - Attention backward ---------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/AttentionCases.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
/// The largest errors of the gradients, relative to 1 + |reference|.
struct Errors {
  double q = 0, k = 0, v = 0, table = 0;
};
} // namespace

static double errorOf(double got, double want) {
  return std::isnan(got) ? 1e9 : std::fabs(got - want) / (1 + std::fabs(want));
}

static Errors errorsOf(const AttentionData &x, const AttentionReference &r) {
  const AttentionCase &c = x.c;
  Errors e;
  for (int64_t i = 0; i < c.buckets * c.heads; ++i)
    e.table = std::fmax(e.table, errorOf(x.dTable.get(i), r.dTable[size_t(i)]));
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t d = 0; d < c.headDim; ++d) {
      for (int64_t s = 0; s < c.seqQ; ++s)
        for (int64_t n = 0; n < c.heads; ++n)
          e.q = std::fmax(e.q, errorOf(x.gradQ(b, s, n, d),
                                       r.dQ[size_t(r.atQ(b, s, n, d))]));
      for (int64_t t = 0; t < c.seqK; ++t)
        for (int64_t n = 0; n < c.kvHeads; ++n) {
          const size_t at = size_t(r.atKV(b, t, n, d));
          e.k = std::fmax(e.k, errorOf(x.gradK(b, t, n, d), r.dK[at]));
          e.v = std::fmax(e.v, errorOf(x.gradV(b, t, n, d), r.dV[at]));
        }
    }
  return e;
}

TEST(AttentionBackward, EqualsReferenceOnEveryTarget) {
  TargetScope restore;
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (const AttentionCase &c : cpuAttentionCases(dtype)) {
      AttentionData x(c, 21);
      const AttentionReference reference(x);
      // Early keys of a causal bf16 head add many rounded terms.
      const double eps = tolerance(dtype) * (dtype == TSR_DTYPE_BF16 ? 2 : 1);
      for (CpuTarget target : cpuTargets()) {
        setCpuTarget(target);
        x.forward(2);
        x.backward(2);
        const Errors e = errorsOf(x, reference);
        EXPECT_LT(e.q, eps) << c.name() << " " << cpuKernels().name;
        EXPECT_LT(e.k, eps) << c.name() << " " << cpuKernels().name;
        EXPECT_LT(e.v, eps) << c.name() << " " << cpuKernels().name;
        // A bucket adds over all sequences, queries and keys.
        EXPECT_LT(e.table, 10 * eps) << c.name() << " " << cpuKernels().name;
      }
    }
}

TEST(AttentionBackward, ThreadsDoNotChangeABit) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16})
    for (const AttentionCase &c : cpuAttentionCases(dtype)) {
      AttentionData one(c, 5), many(c, 5);
      one.forward(1);
      one.backward(1);
      many.forward(1);
      for (int threads : {2, 5}) {
        many.backward(threads);
        EXPECT_TRUE(one.dQ == many.dQ && one.dK == many.dK &&
                    one.dV == many.dV && one.dTable == many.dTable)
            << c.name() << ", " << threads << " threads";
      }
    }
}

/// sum(o * dO) as a function of the inputs.
static double objective(AttentionData &x) {
  x.forward(1);
  const AttentionCase &c = x.c;
  double sum = 0;
  for (int64_t r = 0; r < c.batch * c.seqQ; ++r)
    for (int64_t i = 0; i < c.qColumns(); ++i)
      sum += x.o.get(r * c.rowO() + i) * x.dO.get(r * c.rowO() + i);
  return sum;
}

/// Compares with (f(x + h) - f(x - h)) / 2h: error h^2 f''' / 6 plus 1e-16 f /
/// h.
static void expectDifferences(AttentionData &x, Buffer &input,
                              const Buffer &gradient, int64_t row,
                              int64_t columns) {
  constexpr double h = 1e-5;
  for (int64_t i = 0; i < input.size(); i += 7) {
    if (i % row >= columns)
      continue;
    const double at = input.get(i);
    input.set(i, at + h);
    const double up = objective(x);
    input.set(i, at - h);
    const double down = objective(x);
    input.set(i, at);
    EXPECT_NEAR(gradient.get(i), (up - down) / (2 * h), 2e-8) << i;
  }
}

TEST(AttentionBackward, EqualsCentralDifferences) {
  for (double dropout : {0.0, 0.3})
    for (bool causal : {false, true}) {
      AttentionCase c{2, 4, 2, 9, 9, 6, causal, false, dropout};
      c.dtype = TSR_DTYPE_F64;
      c.buckets = 8;
      c.maxDistance = 6;
      c.window = causal ? 4 : 0;
      AttentionData x(c, 31);
      x.forward(1);
      x.backward(1);
      expectDifferences(x, x.qBuffer, x.dQ, c.rowQ(), c.qColumns());
      expectDifferences(x, x.kBuffer, x.dK, c.rowKV(), c.kvColumns());
      expectDifferences(x, x.vBuffer, x.dV, c.rowKV(), c.kvColumns());
      expectDifferences(x, x.table, x.dTable, c.heads, c.heads);
    }
}

TEST(AttentionBackward, KeysThatNoQuerySeesHaveGradientZero) {
  AttentionCase c{1, 1, 1, 10, 100, 16, true};
  AttentionData x(c, 1);
  x.forward(1);
  x.backward(1);
  for (int64_t t = 10; t < 100; ++t)
    for (int64_t d = 0; d < c.headDim; ++d) {
      EXPECT_EQ(x.gradK(0, t, 0, d), 0);
      EXPECT_EQ(x.gradV(0, t, 0, d), 0);
    }
}

TEST(AttentionBackward, QueriesThatSeeNoKeyHaveGradientZero) {
  AttentionCase c{1, 1, 1, 260, 70, 16, true};
  c.window = 30;
  AttentionData x(c, 1);
  x.forward(1);
  x.backward(1);
  for (int64_t s = 99; s < 260; ++s)
    for (int64_t d = 0; d < c.headDim; ++d)
      EXPECT_EQ(x.gradQ(0, s, 0, d), 0);
}

TEST(AttentionBackward, PaddingHasGradientZero) {
  AttentionCase c{1, 1, 1, 200, 200, 16, false};
  c.querySegments = c.keySegments = segmentsOf(200, {70, -130});
  AttentionData x(c, 1);
  x.forward(1);
  x.backward(1);
  for (int64_t s = 70; s < 200; ++s)
    for (int64_t d = 0; d < c.headDim; ++d) {
      EXPECT_EQ(x.gradQ(0, s, 0, d), 0);
      EXPECT_EQ(x.gradK(0, s, 0, d), 0);
      EXPECT_EQ(x.gradV(0, s, 0, d), 0);
    }
}

TEST(AttentionBackward, SegmentsEqualCentralDifferences) {
  for (bool causal : {false, true}) {
    AttentionCase c{2, 2, 1, 9, 9, 6, causal, false, 0.3};
    c.dtype = TSR_DTYPE_F64;
    c.querySegments = c.keySegments =
        joined(segmentsOf(9, {2, 1, 4, -2}), segmentsOf(9, {3, -1}));
    AttentionData x(c, 31);
    x.forward(1);
    x.backward(1);
    expectDifferences(x, x.qBuffer, x.dQ, c.rowQ(), c.qColumns());
    expectDifferences(x, x.kBuffer, x.dK, c.rowKV(), c.kvColumns());
    expectDifferences(x, x.vBuffer, x.dV, c.rowKV(), c.kvColumns());
  }
}

TEST(AttentionBackward, RefusesShortRows) {
  AttentionData x(AttentionCase{1, 4, 2, 8, 8, 8}, 1);
  x.args[TSR_ATTENTION_ROW_DK] = 15;
  void *buffers[9] = {};
  std::string error;
  EXPECT_NE(cpuAttentionBackward(1, buffers, x.args.data(), &error), 0);
  EXPECT_EQ(error, "attention_backward: row strides of d_o, d_q, d_k, d_v are "
                   "34, 35, 15, 21, at least 32 (d_o, d_q) and 16 (d_k, d_v) "
                   "are needed");
}
