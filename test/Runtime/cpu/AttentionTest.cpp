//===- AttentionTest.cpp - Attention forward ------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/support/Philox.h"
#include "test/Runtime/cpu/AttentionCases.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

static void expectForward(const AttentionData &x, const AttentionReference &r) {
  const AttentionCase &c = x.c;
  const double eps = tolerance(c.dtype);
  double worst = 0, worstLse = 0;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t s = 0; s < c.seqQ; ++s)
      for (int64_t n = 0; n < c.heads; ++n) {
        const int64_t row = (b * c.heads + n) * c.seqQ + s;
        ASSERT_FALSE(std::isnan(x.lse.get(row))) << c.name();
        worstLse =
            std::fmax(worstLse, std::fabs(x.lse.get(row) - r.lse[size_t(row)]));
        for (int64_t d = 0; d < c.headDim; ++d) {
          const double got =
              x.o.get((b * c.seqQ + s) * c.rowO() + n * c.headDim + d);
          ASSERT_FALSE(std::isnan(got)) << c.name();
          const double want = r.o[size_t(r.atQ(b, s, n, d))];
          worst =
              std::fmax(worst, std::fabs(got - want) / (1 + std::fabs(want)));
        }
      }
  EXPECT_LT(worst, eps) << c.name();
  EXPECT_LT(worstLse, c.dtype == TSR_DTYPE_F64 ? 1e-12 : 5e-6) << c.name();
}

TEST(Attention, EqualsReferenceOnEveryTarget) {
  TargetScope restore;
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (const AttentionCase &c : cpuAttentionCases(dtype)) {
      AttentionData x(c, 11);
      const AttentionReference reference(x);
      for (CpuTarget target : cpuTargets()) {
        setCpuTarget(target);
        SCOPED_TRACE(cpuKernels().name);
        x.forward(2);
        expectForward(x, reference);
      }
    }
}

TEST(Attention, ThreadsDoNotChangeABit) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16})
    for (const AttentionCase &c : cpuAttentionCases(dtype)) {
      AttentionData one(c, 5), many(c, 5);
      one.forward(1);
      for (int threads : {2, 5}) {
        many.forward(threads);
        EXPECT_TRUE(one.o == many.o && one.lse == many.lse)
            << c.name() << ", " << threads << " threads";
      }
    }
}

/// With all scores equal and V the unit vectors, the output is the mask.
TEST(Attention, DropoutMaskIsPhiloxOfTheGlobalIndex) {
  TargetScope restore;
  AttentionCase c{2, 3, 3, 70, 70, 70, false, false, 0.4};
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
  for (CpuTarget target : cpuTargets()) {
    setCpuTarget(target);
    x.forward(2);
    int64_t index = ((c.batchStart * 9 + c.headStart) * 70) * 70;
    for (int64_t b = 0; b < c.batch; ++b, index += (9 - 3) * 70 * 70)
      for (int64_t n = 0; n < c.heads; ++n)
        for (int64_t s = 0; s < c.seqQ; ++s)
          for (int64_t t = 0; t < c.seqK; ++t, ++index) {
            const bool kept =
                philox(uint64_t(index), key) >= 0.4 * 4294967296.0;
            const double got = x.o.get((b * 70 + s) * c.rowO() + n * 70 + t);
            ASSERT_EQ(got != 0, kept) << b << " " << n << " " << s << " " << t;
          }
  }
}

TEST(Attention, LargeScoresDoNotOverflow) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64}) {
    AttentionCase c{1, 1, 1, 100, 100, 16, true};
    c.dtype = dtype;
    c.scale = 60;
    AttentionData x(c, 3);
    x.forward(1);
    for (int64_t s = 0; s < c.seqQ; ++s)
      for (int64_t d = 0; d < c.headDim; ++d)
        EXPECT_LT(std::fabs(x.o.get(s * c.rowO() + d)), 6.0);
  }
}

TEST(Attention, NanIsNotSwallowed) {
  AttentionCase c{1, 1, 1, 70, 70, 16, true};
  AttentionData x(c, 3);
  x.qBuffer.set(50 * c.rowQ() + 3, std::numeric_limits<double>::quiet_NaN());
  x.forward(1);
  EXPECT_TRUE(std::isnan(x.o.get(50 * c.rowO())));
  EXPECT_FALSE(std::isnan(x.o.get(49 * c.rowO())));
}

/// There are as many keys before a query as the case's window has.
TEST(Attention, QueriesThatSeeNoKeyHaveOutputZero) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64}) {
    AttentionCase c{1, 2, 1, 260, 70, 16, true};
    c.dtype = dtype;
    c.window = 30;
    AttentionData x(c, 3);
    x.forward(1);
    for (int64_t s = 0; s < c.seqQ; ++s) {
      const bool sees = s < 99; // query 98 sees key 69
      EXPECT_EQ(x.lse.get(s) == -std::numeric_limits<double>::infinity(), !sees)
          << s;
      EXPECT_EQ(x.o.get(s * c.rowO()) == 0, !sees) << s;
    }
  }
}

/// A window that hides nothing changes no bit.
TEST(Attention, AWindowOfAllKeysIsNone) {
  AttentionCase c{1, 2, 2, 130, 130, 16, true, false, 0.2};
  AttentionData plain(c, 3);
  plain.forward(1);
  c.window = 130;
  AttentionData windowed(c, 3);
  windowed.forward(1);
  EXPECT_TRUE(plain.o == windowed.o && plain.lse == windowed.lse);
}

/// The rows that have keys are those of documents, of padding, and all.
TEST(Attention, PaddingSeesNothingAndIsNotSeen) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (bool causal : {false, true}) {
      AttentionCase c{1, 2, 1, 200, 200, 16, causal};
      c.dtype = dtype;
      c.querySegments = c.keySegments = segmentsOf(200, {70, -130});
      AttentionData x(c, 3), changed(c, 3);
      // Keys that no query sees may have any value; whole blocks of them are
      // not even read.
      for (int64_t t = 128; t < 200; ++t)
        for (int64_t i = 0; i < c.rowKV(); ++i)
          for (Buffer *keys : {&changed.kBuffer, &changed.vBuffer})
            keys->set(t * c.rowKV() + i,
                      std::numeric_limits<double>::quiet_NaN());
      x.forward(1);
      changed.forward(1);
      EXPECT_TRUE(x.o == changed.o && x.lse == changed.lse);
      for (int64_t s = 0; s < c.seqQ; ++s) {
        const bool sees = s < 70;
        EXPECT_EQ(x.lse.get(s) == -std::numeric_limits<double>::infinity(),
                  !sees)
            << s;
        EXPECT_EQ(x.o.get(s * c.rowO()) == 0, !sees) << s;
      }
    }
}

/// One document changes no bit.
TEST(Attention, OneSegmentIsNone) {
  AttentionCase c{2, 2, 2, 130, 130, 16, true, false, 0.2};
  AttentionData plain(c, 3);
  plain.forward(1);
  c.querySegments = c.keySegments = std::vector<int32_t>(260, 7);
  AttentionData masked(c, 3);
  masked.forward(1);
  EXPECT_TRUE(plain.o == masked.o && plain.lse == masked.lse);
}

/// Packed documents are what each is alone.
TEST(Attention, DocumentsAreComputedAlone) {
  AttentionCase c{1, 2, 2, 192, 192, 16, true};
  c.querySegments = c.keySegments = segmentsOf(192, {64});
  AttentionData packed(c, 3);
  packed.forward(1);
  AttentionData alone(AttentionCase{1, 2, 2, 128, 128, 16, true}, 4);
  for (int64_t i = 0; i < 128 * c.rowQ(); ++i)
    alone.qBuffer.set(i, packed.qBuffer.get(64 * c.rowQ() + i));
  for (int64_t i = 0; i < 128 * c.rowKV(); ++i) {
    alone.kBuffer.set(i, packed.kBuffer.get(64 * c.rowKV() + i));
    alone.vBuffer.set(i, packed.vBuffer.get(64 * c.rowKV() + i));
  }
  alone.forward(1);
  for (int64_t s = 0; s < 128; ++s)
    for (int64_t i = 0; i < c.qColumns(); ++i)
      EXPECT_EQ(alone.o.get(s * c.rowO() + i),
                packed.o.get((64 + s) * c.rowO() + i));
}

TEST(Attention, RefusesWhatItCannotDo) {
  const auto refusal = [](int index, int64_t value) {
    AttentionData x(AttentionCase{1, 4, 2, 8, 8, 8}, 1);
    x.args[size_t(index)] = value;
    void *buffers[9] = {};
    std::string error;
    EXPECT_NE(cpuAttention(1, buffers, x.args.data(), &error), 0);
    return error;
  };
  EXPECT_EQ(refusal(TSR_ATTENTION_KV_HEADS, 3),
            "attention: 4 heads cannot share 3 key/value heads");
  EXPECT_EQ(refusal(TSR_ATTENTION_DTYPE, 3),
            "attention: dtype 3 is not one of f32 (0), bf16 (1), f64 (2)");
  EXPECT_EQ(refusal(TSR_ATTENTION_SEQ_K, 0),
            "attention: needs at least 1 key and head_dim 1, got 0 and 8");
  EXPECT_EQ(refusal(TSR_ATTENTION_ROW_Q, 31),
            "attention: row strides of q and o are 31 and 34, at least 32 is "
            "needed");
  EXPECT_EQ(refusal(TSR_ATTENTION_WINDOW, 3),
            "attention: a window of 3 keys without a causal mask");
  EXPECT_EQ(refusal(TSR_ATTENTION_WINDOW, -1),
            "attention: a window of -1 keys; it must be at least 1, or 0 for "
            "none");
  EXPECT_EQ(refusal(TSR_ATTENTION_DROPOUT_BITS, 0x3ff0000000000000),
            "attention: dropout 1.000000 is not in [0, 1)");
}
