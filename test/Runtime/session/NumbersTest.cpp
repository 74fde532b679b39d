//===- NumbersTest.cpp - random numbers, element types, schedule ----------===//
#include "runtime/cpu/CpuKernels.h"
#include "runtime/data/TokenMask.h"
#include "runtime/device/Cores.h"
#include "runtime/session/Initializer.h"
#include "runtime/support/DType.h"
#include "runtime/support/Philox.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;

namespace {

TEST(Philox, KnownAnswer) {
  // Random123's kat_vectors, philox4x32-10, counter and key zero.
  EXPECT_EQ(philox(0, 0), 0x6627E8D5u);
}

TEST(Philox, AllIndexAndKeyBitsMatter) {
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(philox(uint64_t(1) << bit, 0), philox(0, 0));
    EXPECT_NE(philox(0, uint64_t(1) << bit), philox(0, 0));
  }
}

/// Tables of rotary positions: element (p, e) of a row-major table.
TEST(Initializer, WavesAreOfThePositionTimesTheFrequency) {
  Initial init;
  init.kind = Initial::Cosines;
  init.frequencies = {1.0, 0.25, 1e-3};
  init.zerosBegin = 500;
  init.zerosEnd = 530;
  init.scale = 2;
  EXPECT_EQ(initialValue(init, 0, 0), 2.0);
  EXPECT_EQ(initialValue(init, 0, 3 * 100001 + 2), 2 * std::cos(100001 * 1e-3));
  init.kind = Initial::Sines;
  EXPECT_EQ(initialValue(init, 0, 3 * 7 + 1), 2 * std::sin(1.75));
}

TEST(Initializer, NormalHasItsMoments) {
  Initial init;
  init.kind = Initial::Normal;
  init.mean = 3;
  init.std = 0.5;
  constexpr int count = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    double x = initialValue(init, tsr_abi_stream(1, -1, 2), i) - 3;
    sum += x;
    squares += x * x;
  }
  // Six standard errors of the mean and of the variance.
  EXPECT_NEAR(sum / count, 0, 6 * 0.5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 0.25, 6 * 0.25 * std::sqrt(2.0 / count));
}

/// Many at once are the same bits as one at a time, on every processor,
/// wherever they begin and end.
TEST(Initializer, ManyAreTheSameBitsAsOne) {
  Initial init;
  init.mean = 0.25;
  init.std = 0.02;
  init.bound = 0.5;
  init.frequencies = {1.0, 0.25, 1e-3};
  const uint64_t key = tsr_abi_stream(3, -1, 5);
  for (CpuTarget target :
       {CpuTarget::Baseline, CpuTarget::Avx2, CpuTarget::Avx512}) {
    setCpuTarget(std::min(target, bestCpuTarget()));
    for (auto kind : {Initial::Normal, Initial::Uniform, Initial::Ones,
                      Initial::Zeros, Initial::Cosines})
      for (auto [first, count] : {std::pair<int64_t, int64_t>{0, 1},
                                  {7, 511},
                                  {1, 1024 + 3},
                                  {(int64_t(1) << 31) - 5, 37},
                                  {(int64_t(1) << 40) + 1, 600}}) {
        init.kind = kind;
        std::vector<double> many(count + 1, -7), one(count + 1, -7);
        initialValues(init, key, first, count, many.data());
        for (int64_t i = 0; i < count; ++i)
          one[i] = initialValue(init, key, first + i);
        EXPECT_EQ(many, one) << cpuKernels().name << " kind " << kind
                             << " from " << first << " count " << count;
      }
  }
  setCpuTarget(bestCpuTarget());
}

/// The option bounds what computes. What fills has the cores that there are.
TEST(Cores, RankThatFillsHasItsShare) {
  const int all = planCores(1, 0).threadsPerRank;
  EXPECT_EQ(planCores(1, 1).threadsPerRank, 1);
  EXPECT_EQ(planCores(1, 1).fillingThreads, all);
  EXPECT_EQ(planCores(1, all + 3).fillingThreads, all + 3);
  EXPECT_EQ(planCores(all, 1).fillingThreads, 1);
  EXPECT_EQ(planProcessCores(0, 1, 1).fillingThreads, all);
}

TEST(Initializer, FormulaOfTheDocument) {
  Initial init;
  init.kind = Initial::Normal;
  init.std = 1;
  uint64_t key = tsr_abi_stream(7, -1, 4);
  double u1 = (philox(20, key) + 1.0) / 4294967296.0;
  double u2 = philox(21, key) / 4294967296.0;
  EXPECT_DOUBLE_EQ(initialValue(init, key, 10),
                   std::sqrt(-2 * std::log(u1)) *
                       std::cos(2 * 3.14159265358979323846 * u2));
  double next = initialValue(init, key, 11);
  init.zerosBegin = 9;
  init.zerosEnd = 11;
  double values[4];
  initialValues(init, key, 8, 4, values);
  EXPECT_NE(values[0], 0);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], next);
}

/// Makes tokens [batch, sequence + 1] of `model`, with `of(i)` at position i.
template <class Of>
std::vector<int32_t> rowsOf(const Model &model, const Of &of) {
  std::vector<int32_t> tokens(model.batch * model.columns());
  for (int64_t i = 0; i < model.batch * model.sequence; ++i)
    tokens[i / model.sequence * model.columns() + i % model.sequence] = of(i);
  return tokens;
}

/// 15 of 100 tokens are labels, one per sequence at least; 8 of 10 are hidden.
TEST(TokenMask, SharesOfTheDefinition) {
  Model model = {1000, 128, 64, 1, 999};
  auto tokenAt = [](int64_t i) { return static_cast<int32_t>(i % 998); };
  std::vector<int32_t> tokens = rowsOf(model, tokenAt);
  TokenMask mask(model, 7, 3, tokens.data()), next(model, 7, 4, tokens.data());
  int64_t count = model.batch * model.sequence;
  double predicted = 0, hidden = 0, kept = 0, moved = 0;
  std::vector<int64_t> perSequence(model.batch, 0);
  for (int64_t i = 0; i < count; ++i) {
    int32_t token = tokenAt(i);
    bool isPredicted = mask.label(i, token) == token;
    EXPECT_TRUE(isPredicted || mask.label(i, token) == -100);
    EXPECT_TRUE(isPredicted || mask.id(i, token) == token);
    perSequence[i / model.sequence] += isPredicted;
    predicted += isPredicted;
    hidden += isPredicted && mask.id(i, token) == 999;
    kept += isPredicted && mask.id(i, token) == token;
    moved += mask.label(i, token) != next.label(i, token);
  }
  EXPECT_NEAR(predicted / count, 0.15 + 0.85 / 128, 0.015);
  EXPECT_NEAR(hidden / predicted, 0.8, 0.05);
  EXPECT_NEAR(kept / predicted, 0.1, 0.04);
  EXPECT_GT(moved, predicted);
  EXPECT_GE(*std::min_element(perSequence.begin(), perSequence.end()), 1);
}

/// Sequences are [CLS] text [SEP] [PAD] ..: each that has a token of text has a
/// label, and special tokens stay as they are.
TEST(TokenMask, SpecialTokensAndPaddingAreNeitherHiddenNorLabels) {
  Model model = {1000, 16, 256, 1, 999};
  model.special = {0, 101, 102, 999};
  auto tokenAt = [&](int64_t i) {
    int64_t row = i / model.sequence, column = i % model.sequence;
    int64_t words = row % 13; // none in some
    return static_cast<int32_t>(column == 0           ? 101
                                : column <= words     ? 200 + i % 700
                                : column == words + 1 ? 102
                                                      : 0);
  };
  std::vector<int32_t> tokens = rowsOf(model, tokenAt);
  TokenMask mask(model, 7, 3, tokens.data());
  std::vector<int64_t> perSequence(model.batch, 0);
  int64_t hidden = 0;
  for (int64_t i = 0; i < model.batch * model.sequence; ++i) {
    int32_t token = tokenAt(i);
    bool isSpecial =
        std::binary_search(model.special.begin(), model.special.end(), token);
    if (isSpecial) {
      EXPECT_EQ(mask.label(i, token), -100);
      EXPECT_EQ(mask.id(i, token), token);
    }
    perSequence[i / model.sequence] += mask.label(i, token) >= 0;
    hidden += mask.id(i, token) == 999;
  }
  for (int64_t row = 0; row < model.batch; ++row)
    EXPECT_EQ(perSequence[row] > 0, row % 13 > 0) << row;
  EXPECT_GT(hidden, 100);
}

/// A model with a mask of padding hides no padding token.
TEST(TokenMask, PaddingIsKnownWithoutATokenizer) {
  Model model = {1000, 16, 64, 1, 999};
  model.padding = 7;
  auto tokenAt = [](int64_t i) { return i % 16 < 3 ? 5 : 7; };
  std::vector<int32_t> tokens = rowsOf(model, tokenAt);
  TokenMask mask(model, 7, 3, tokens.data());
  for (int64_t row = 0; row < model.batch; ++row) {
    int64_t labels = 0;
    for (int64_t i = row * 16; i < row * 16 + 16; ++i) {
      labels += mask.label(i, tokenAt(i)) == 5;
      EXPECT_NE(mask.label(i, tokenAt(i)), 7);
    }
    EXPECT_GE(labels, 1);
  }
}

TEST(DType, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16ToFloat(floatToBf16(257.0f)), 256.0f); // tie, to even
  EXPECT_EQ(bf16ToFloat(floatToBf16(259.0f)), 260.0f); // tie, to even
  EXPECT_EQ(bf16ToFloat(floatToBf16(257.1f)), 258.0f);
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(NAN))));
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(floatFromBits(0x7F800001)))));
  EXPECT_EQ(bf16ToFloat(floatToBf16(std::numeric_limits<float>::max())),
            INFINITY);
}

TEST(DType, DoubleToBf16RoundsOnce) {
  // A little above the tie 257: through float it would become the tie.
  double value = 257 + 1e-9;
  EXPECT_EQ(static_cast<float>(value), 257.0f);
  EXPECT_EQ(bf16ToFloat(doubleToBf16(value)), 258.0f);
  EXPECT_EQ(bf16ToFloat(doubleToBf16(259 - 1e-9)), 258.0f);
  EXPECT_EQ(bf16ToFloat(doubleToBf16(-value)), -258.0f);
}

TEST(DType, F16Widens) {
  EXPECT_EQ(f16ToFloat(0x3C00), 1.0f);
  EXPECT_EQ(f16ToFloat(0xC500), -5.0f);
  EXPECT_EQ(f16ToFloat(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(f16ToFloat(0x7BFF), 65504.0f);
  EXPECT_EQ(f16ToFloat(0x7C00), INFINITY);
  EXPECT_TRUE(std::isnan(f16ToFloat(0x7C01)));
  EXPECT_TRUE(std::signbit(f16ToFloat(0x8000)));
}

TEST(DType, IntegersSaturate) {
  const double values[] = {1e20, -1e20, 2.5, NAN};
  int32_t narrowed[4];
  narrow(TSR_DTYPE_I32, values, narrowed, 4);
  EXPECT_EQ(narrowed[0], std::numeric_limits<int32_t>::max());
  EXPECT_EQ(narrowed[1], std::numeric_limits<int32_t>::min());
  EXPECT_EQ(narrowed[2], 2);
  EXPECT_EQ(narrowed[3], 0);
}

} // namespace
