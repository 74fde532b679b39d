//===- AttentionSuite.cpp - What attention must do anywhere ---------------===//

#include "test/Runtime/cuda/attention/AttentionSuite.h"
#include "runtime/support/Philox.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

static std::string caseName(const AttentionCase &c, Layout layout) {
  return c.name() + (layout == Layout::Aligned ? " aligned" : "");
}

static double errorOf(double got, double want) {
  return std::isnan(got) ? 1e9 : std::fabs(got - want) / (1 + std::fabs(want));
}

static double output(const AttentionData &x, int64_t b, int64_t s, int64_t n,
                     int64_t d) {
  const AttentionCase &c = x.c;
  return x.o.get((b * c.seqQ + s) * c.rowO() + n * c.headDim + d);
}

static void compareForward(const AttentionData &x, const AttentionReference &r,
                           const std::string &name) {
  const AttentionCase &c = x.c;
  double worst = 0, worstLse = 0;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t s = 0; s < c.seqQ; ++s)
      for (int64_t n = 0; n < c.heads; ++n) {
        const int64_t row = (b * c.heads + n) * c.seqQ + s;
        worstLse =
            std::fmax(worstLse, errorOf(x.lse.get(row), r.lse[size_t(row)]));
        for (int64_t d = 0; d < c.headDim; ++d)
          worst = std::fmax(worst, errorOf(output(x, b, s, n, d),
                                           r.o[size_t(r.atQ(b, s, n, d))]));
      }
  EXPECT_LT(worst, tolerance(c.dtype)) << name;
  EXPECT_LT(worstLse, 5e-6) << name; // in f32 for both dtypes
}

void tessera::test::expectForwardEqualsReference(Backend &on, int64_t dtype) {
  for (const AttentionCase &c : gpuAttentionCases(dtype)) {
    AttentionData x(c, 11);
    const AttentionReference reference(x);
    for (Layout layout : layoutsOf(c)) {
      runForward(on, x, layout);
      compareForward(x, reference, caseName(c, layout));
    }
  }
}

static void compareBackward(const AttentionData &x, const AttentionReference &r,
                            const std::string &name) {
  const AttentionCase &c = x.c;
  double worst[3] = {};
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t d = 0; d < c.headDim; ++d) {
      for (int64_t s = 0; s < c.seqQ; ++s)
        for (int64_t n = 0; n < c.heads; ++n)
          worst[0] =
              std::fmax(worst[0], errorOf(x.gradQ(b, s, n, d),
                                          r.dQ[size_t(r.atQ(b, s, n, d))]));
      for (int64_t t = 0; t < c.seqK; ++t)
        for (int64_t n = 0; n < c.kvHeads; ++n) {
          const size_t at = size_t(r.atKV(b, t, n, d));
          worst[1] =
              std::fmax(worst[1], errorOf(x.gradK(b, t, n, d), r.dK[at]));
          worst[2] =
              std::fmax(worst[2], errorOf(x.gradV(b, t, n, d), r.dV[at]));
        }
    }
  // Early keys of a causal bf16 head add many rounded terms.
  const double eps = tolerance(c.dtype) * (c.dtype == TSR_DTYPE_BF16 ? 2 : 1);
  EXPECT_LT(worst[0], eps) << "d_q " << name;
  EXPECT_LT(worst[1], eps) << "d_k " << name;
  EXPECT_LT(worst[2], eps) << "d_v " << name;
  double table = 0;
  for (size_t i = 0; i < r.dTable.size(); ++i)
    table = std::fmax(table, errorOf(x.dTable.get(int64_t(i)), r.dTable[i]));
  EXPECT_LT(table, eps) << "d_table " << name;
}

void tessera::test::expectBackwardEqualsReference(Backend &on, int64_t dtype) {
  for (const AttentionCase &c : gpuAttentionCases(dtype)) {
    AttentionData x(c, 21);
    const AttentionReference reference(x);
    x.forward(1); // on the CPU: it is not what is tested
    for (Layout layout : layoutsOf(c)) {
      runBackward(on, x, layout);
      compareBackward(x, reference, caseName(c, layout));
    }
  }
}

/// Makes the output the mask, by equal scores and the unit vectors for V.
void tessera::test::expectMaskIsPhiloxOfGlobalIndex(Backend &on,
                                                    int64_t dtype) {
  AttentionCase c{2, 3, 3, 70, 70, 70, false, false, 0.4};
  c.dtype = dtype;
  c.batchStart = 3;
  c.headStart = 5;
  c.headsTotal = 9;
  AttentionData x(c, 1);
  x.qBuffer.fill(0);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t t = 0; t < c.seqK; ++t)
      for (int64_t i = 0; i < c.rowKV(); ++i)
        x.vBuffer.set((b * c.seqK + t) * c.rowKV() + i, i % c.headDim == t);
  const uint64_t key = tsr_abi_stream(1234, 7, 3);
  runForward(on, x, Layout::Given);
  int64_t index = ((c.batchStart * 9 + c.headStart) * 70) * 70;
  for (int64_t b = 0; b < c.batch; ++b, index += (9 - 3) * 70 * 70)
    for (int64_t n = 0; n < c.heads; ++n)
      for (int64_t s = 0; s < c.seqQ; ++s)
        for (int64_t t = 0; t < c.seqK; ++t, ++index) {
          const bool kept = philox(uint64_t(index), key) >= 0.4 * 4294967296.0;
          ASSERT_EQ(output(x, b, s, n, t) != 0, kept)
              << b << " " << n << " " << s << " " << t;
        }
}

void tessera::test::expectUnseenKeysHaveGradientZero(Backend &on,
                                                     int64_t dtype) {
  AttentionCase c{1, 1, 1, 10, 200, 16, true};
  c.dtype = dtype;
  AttentionData x(c, 1);
  runForward(on, x, Layout::Given);
  runBackward(on, x, Layout::Given);
  for (int64_t t = 10; t < 200; ++t)
    for (int64_t d = 0; d < c.headDim; ++d) {
      ASSERT_EQ(x.gradK(0, t, 0, d), 0) << t;
      ASSERT_EQ(x.gradV(0, t, 0, d), 0) << t;
    }
}

void tessera::test::expectLargeScoresDoNotOverflow(Backend &on, int64_t dtype) {
  AttentionCase c{1, 1, 1, 100, 100, 16, true};
  c.dtype = dtype;
  c.scale = 60;
  AttentionData x(c, 3);
  runForward(on, x, Layout::Given);
  for (int64_t s = 0; s < c.seqQ; ++s)
    for (int64_t d = 0; d < c.headDim; ++d)
      EXPECT_LT(std::fabs(output(x, 0, s, 0, d)), 6.0);
  // Padding keys must not meet exp(-lse), which is huge in some rows.
  runBackward(on, x, Layout::Given);
  for (int64_t i = 0; i < c.seqQ; ++i)
    for (int64_t d = 0; d < c.headDim; ++d) {
      EXPECT_TRUE(std::isfinite(x.gradQ(0, i, 0, d)));
      EXPECT_TRUE(std::isfinite(x.gradK(0, i, 0, d)));
      EXPECT_TRUE(std::isfinite(x.gradV(0, i, 0, d)));
    }
}

void tessera::test::expectNanStaysInItsRow(Backend &on, int64_t dtype) {
  AttentionCase c{1, 1, 1, 70, 70, 16, true};
  c.dtype = dtype;
  AttentionData x(c, 3);
  x.qBuffer.set(50 * c.rowQ() + 3, std::numeric_limits<double>::quiet_NaN());
  runForward(on, x, Layout::Given);
  for (int64_t s = 0; s < c.seqQ; ++s)
    EXPECT_EQ(std::isnan(output(x, 0, s, 0, 0)), s == 50) << s;
}

/// The second document is NaN; no tile of any kernel has a part of both.
void tessera::test::expectHiddenTilesAreNotRead(Backend &on, int64_t dtype) {
  AttentionCase c{1, 1, 1, 256, 256, 16, false};
  c.dtype = dtype;
  c.querySegments = c.keySegments = segmentsOf(256, {128, 128});
  AttentionData x(c, 3);
  for (Buffer *buffer : {&x.qBuffer, &x.kBuffer, &x.vBuffer, &x.dO})
    for (int64_t i = buffer->size() / 2; i < buffer->size(); ++i)
      buffer->set(i, std::numeric_limits<double>::quiet_NaN());
  runForward(on, x, Layout::Given);
  runBackward(on, x, Layout::Given);
  for (int64_t s = 0; s < c.seqQ; ++s) {
    EXPECT_EQ(std::isnan(output(x, 0, s, 0, 0)), s >= 128) << s;
    EXPECT_EQ(std::isnan(x.gradQ(0, s, 0, 0)), s >= 128) << s;
    EXPECT_EQ(std::isnan(x.gradK(0, s, 0, 0)), s >= 128) << s;
    EXPECT_EQ(std::isnan(x.gradV(0, s, 0, 0)), s >= 128) << s;
  }
}

/// Buffers start as NaN; what lies between the rows must stay so.
void tessera::test::expectGapsAreUntouched(Backend &on, int64_t dtype) {
  AttentionCase c{1, 4, 2, 130, 130, 24, true, true};
  c.dtype = dtype;
  AttentionData x(c, 4);
  x.o = Buffer(dtype, x.o.size());
  x.dQ = Buffer(dtype, x.dQ.size());
  runForward(on, x, Layout::Given);
  runBackward(on, x, Layout::Given);
  for (int64_t s = 0; s < c.seqQ; ++s) {
    for (int64_t i = 0; i < c.rowO(); ++i)
      ASSERT_EQ(std::isnan(x.o.get(s * c.rowO() + i)), i >= c.qColumns());
    for (int64_t i = 0; i < c.rowQ(); ++i)
      ASSERT_EQ(std::isnan(x.dQ.get(s * c.rowQ() + i)), i == c.rowQ() - 1);
  }
}

static AttentionCase biasedCase(int64_t dtype) {
  AttentionCase c{2, 2, 2, 70, 140, 32, false, false, 0, dtype};
  c.buckets = 16;
  c.maxDistance = 40;
  return c;
}

void tessera::test::expectSameBits(Backend &one, Backend &other,
                                   int64_t dtype) {
  for (const AttentionCase &c :
       {AttentionCase{1, 4, 2, 130, 130, 64, true, true, 0.1, dtype},
        AttentionCase{1, 2, 1, 70, 140, 128, false, false, 0, dtype},
        biasedCase(dtype)}) {
    AttentionData x(c, 5), y(c, 5);
    runForward(one, x, Layout::Given);
    runForward(other, y, Layout::Given);
    EXPECT_TRUE(x.o == y.o && x.lse == y.lse) << c.name();
    runBackward(one, x, Layout::Given);
    runBackward(other, y, Layout::Given);
    EXPECT_TRUE(x.dQ == y.dQ && x.dK == y.dK && x.dV == y.dV &&
                x.dTable == y.dTable)
        << c.name();
  }
}
