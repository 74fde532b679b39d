//===- SamplingTest.cpp - penalties and candidates ------------------------===//
// Against sorting of all logits, with NaN wherever nothing may be read.

#include "runtime/cpu/CpuEntries.h"
#include "runtime/support/Gumbel.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace tessera;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T> constexpr int64_t dtypeOf() {
  return sizeof(T) == 8 ? TSR_DTYPE_F64 : TSR_DTYPE_F32;
}

/// Some rows of logits, of which a rank has a slice.
template <typename T> struct Rows {
  int64_t rows, start, valid, padding, total;
  std::vector<T> logits; ///< [rows, valid + padding]

  int64_t columns() const { return valid + padding; }
};

/// Many are equal; the first of row 0 is NaN, the second -inf.
template <typename T>
Rows<T> randomRows(int64_t rows, int64_t start, int64_t valid, int64_t padding,
                   int64_t total) {
  Rows<T> made{rows, start, valid, padding, total, {}};
  std::mt19937 random(static_cast<unsigned>(start + valid));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < valid; ++k)
      made.logits.push_back(T(int64_t(random() % 199) - 99) / 8);
    made.logits.insert(made.logits.end(), padding, T(kNan));
  }
  if (valid > 2) {
    made.logits[0] = T(kNan);
    made.logits[1] = T(kNone);
  }
  return made;
}

/// Returns candidates [rows, count, 2 or 3].
template <typename T>
std::vector<T> top(const Rows<T> &of, int64_t count, int threads,
                   const std::vector<T> &sharpness = {},
                   const std::vector<int32_t> &draws = {}) {
  const int64_t numbers = draws.empty() ? 2 : 3;
  std::vector<T> lists(of.rows * count * numbers, T(kNan));
  void *buffers[] = {const_cast<T *>(of.logits.data()), lists.data(),
                     const_cast<T *>(sharpness.data()),
                     const_cast<int32_t *>(draws.data())};
  const int64_t args[] = {of.rows,  of.columns(), of.start,       of.valid,
                          of.total, count,        !draws.empty(), dtypeOf<T>()};
  std::string error;
  EXPECT_EQ(cpuTop(threads, buffers, args, &error), 0) << error;
  return lists;
}

template <typename T> struct Entry {
  T value;
  int64_t index;
  T logit;
};

/// Expects the list of a row: sorted by value, then by index; then of none.
template <typename T>
void expectList(const T *list, int64_t count, int64_t numbers,
                std::vector<Entry<T>> wanted, int64_t total) {
  std::sort(wanted.begin(), wanted.end(), [](const auto &a, const auto &b) {
    return a.value != b.value ? a.value > b.value : a.index < b.index;
  });
  wanted.resize(count, {T(kNone), total, T(kNone)});
  for (int64_t k = 0; k < count; ++k) {
    EXPECT_EQ(list[k * numbers], wanted[k].value) << k;
    EXPECT_EQ(list[k * numbers + 1], T(wanted[k].index)) << k;
    if (numbers > 2) {
      EXPECT_EQ(list[k * numbers + 2], wanted[k].logit) << k;
    }
  }
}

/// Values of a row by `valueOf(index, logit)`, where they are numbers.
template <typename T, class Value>
std::vector<Entry<T>> entriesOf(const Rows<T> &of, int64_t row,
                                const Value &valueOf) {
  std::vector<Entry<T>> entries;
  for (int64_t k = 0; k < of.valid; ++k) {
    const T logit = of.logits[row * of.columns() + k];
    const T value = valueOf(of.start + k, logit);
    if (value > T(kNone))
      entries.push_back({value, of.start + k, logit});
  }
  return entries;
}

template <typename T> class SamplingTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SamplingTest, Types);

/// Lists of one, of many, and of more than there are; few and many columns;
/// padding; slices of a vocabulary.
TYPED_TEST(SamplingTest, TopIsTheBeginningOfTheSorted) {
  using T = TypeParam;
  for (auto [valid, padding] :
       {std::pair<int64_t, int64_t>{5, 0}, {61, 3}, {1, 0}, {0, 7}, {20000, 1}})
    for (int64_t count : {1, 8, 70})
      for (int threads : {1, 2, 5}) {
        auto of = randomRows<T>(3, 40, valid, padding, 30000);
        auto lists = top(of, count, threads);
        for (int64_t row = 0; row < of.rows; ++row)
          expectList(&lists[row * count * 2], count, 2,
                     entriesOf(of, row, [](int64_t, T x) { return x; }),
                     of.total);
      }
}

/// Skipping what cannot win changes nothing. The second row has no noise.
TYPED_TEST(SamplingTest, DrawsAreLogitsWithNoise) {
  using T = TypeParam;
  auto of = randomRows<T>(2, 1000, 3000, 5, 5000);
  const int64_t seed = -7'000'000'000;
  const std::vector<T> sharpness = {T(1 / 0.7), T(2)};
  for (int32_t position : {0, 1, 77}) {
    const auto bits = static_cast<uint64_t>(seed);
    const std::vector<int32_t> draws = {
        static_cast<int32_t>(bits), static_cast<int32_t>(bits >> 32), position,
        static_cast<int32_t>(bits), static_cast<int32_t>(bits >> 32), -1};
    for (int64_t count : {1, 4}) {
      auto lists = top(of, count, 2, sharpness, draws);
      for (int64_t row = 0; row < 2; ++row)
        expectList(&lists[row * count * 3], count, 3,
                   entriesOf(of, row,
                             [&, row = row](int64_t index, T x) {
                               double noise = row == 1
                                                  ? 0
                                                  : gumbelNoise(gumbelWord(
                                                        seed, position, index));
                               return T(double(x) * sharpness[row] + noise);
                             }),
                   of.total);
    }
  }
}

/// The vocabulary is split in several ways, with draws and without.
TYPED_TEST(SamplingTest, MergedPartsAreTheWhole) {
  using T = TypeParam;
  auto whole = randomRows<T>(2, 0, 61, 0, 61);
  const std::vector<T> sharpness = {T(1.5), T(1)};
  const std::vector<int32_t> draws = {3, 1, 9, 4, 0, 2};
  for (bool drawn : {false, true})
    for (int64_t ranks : {1, 2, 3, 7, 40})
      for (int64_t count : {1, 6, 61, 64}) {
        const int64_t numbers = drawn ? 3 : 2, chunk = (61 + ranks - 1) / ranks;
        std::vector<T> parts;
        for (int64_t rank = 0; rank < ranks; ++rank) {
          const int64_t start = std::min<int64_t>(61, rank * chunk);
          const int64_t valid = std::min<int64_t>(chunk, 61 - start);
          Rows<T> part{2, start, valid, chunk - valid, 61, {}};
          for (int64_t row = 0; row < 2; ++row) {
            const T *from = &whole.logits[row * 61] + start;
            part.logits.insert(part.logits.end(), from, from + valid);
            part.logits.insert(part.logits.end(), chunk - valid, T(kNan));
          }
          auto list = drawn ? top(part, count, 1, sharpness, draws)
                            : top(part, count, 1);
          parts.insert(parts.end(), list.begin(), list.end());
        }
        std::vector<T> merged(2 * count * numbers, T(kNan));
        void *buffers[] = {parts.data(), merged.data()};
        const int64_t args[] = {ranks, 2, count, numbers, dtypeOf<T>()};
        std::string error;
        ASSERT_EQ(cpuMergeTop(1, buffers, args, &error), 0) << error;
        EXPECT_EQ(merged, drawn ? top(whole, count, 1, sharpness, draws)
                                : top(whole, count, 1))
            << ranks << " ranks, lists of " << count;
      }
}

/// Once each, whatever its sign, where the rank has it. Tokens of a row without
/// a penalty are not read.
TYPED_TEST(SamplingTest, PenaltiesAreOfNamedTokensOnce) {
  using T = TypeParam;
  std::vector<T> logits = {2, -2, 0, 5, T(kNan), 1, 2, 3, 4, T(kNan)};
  std::vector<int32_t> tokens = {10, 11, 10, -1, 99, 9, 14, 13, 12, 10, 13, 11};
  std::vector<T> penalties = {2, 1};
  void *buffers[] = {logits.data(), tokens.data(), penalties.data()};
  const int64_t args[] = {2, 5, 10, 4, 6, dtypeOf<T>()};
  std::string error;
  ASSERT_EQ(cpuPenalize(1, buffers, args, &error), 0) << error;
  EXPECT_EQ(std::vector<T>(logits.begin(), logits.begin() + 4),
            (std::vector<T>{1, -4, 0, 5}));
  EXPECT_TRUE(std::isnan(logits[4])); // padding, though token 14 is named
  EXPECT_EQ(std::vector<T>(logits.begin() + 5, logits.end() - 1),
            (std::vector<T>{1, 2, 3, 4}));
}

TEST(SamplingEntries, SizesThatCannotBeAreErrors) {
  float x[8] = {};
  void *buffers[] = {x, x, x, x};
  std::string error;
  const int64_t tops[] = {1, 4, 0, 5, 8, 2, 0, TSR_DTYPE_F32};
  EXPECT_EQ(cpuTop(1, buffers, tops, &error), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(error, "top: 5 of 4 columns cannot be valid");
  const int64_t none[] = {1, 4, 0, 4, 8, 0, 0, TSR_DTYPE_F32};
  EXPECT_EQ(cpuTop(1, buffers, none, &error), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(error, "top: COUNT is 0, it must be at least 1");
  const int64_t merge[] = {2, 1, 1, 2, TSR_DTYPE_BF16};
  EXPECT_EQ(cpuMergeTop(1, buffers, merge, &error), TSR_INVALID_ARGUMENT);
  EXPECT_NE(error.find("dtype 1 is not supported"), std::string::npos);
  const int64_t penalize[] = {1, 4, -1, 4, 1, TSR_DTYPE_F32};
  EXPECT_EQ(cpuPenalize(1, buffers, penalize, &error), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(error, "penalize: START is -1, it must be at least 0");
}

} // namespace
