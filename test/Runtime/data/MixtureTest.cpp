//===- MixtureTest.cpp - which source each sequence is read from ----------===//
#include "runtime/data/Mixture.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace tessera;

namespace {

using Shares = std::vector<int64_t>;

int64_t sumOf(const Shares &shares) {
  return std::accumulate(shares.begin(), shares.end(), int64_t(0));
}

std::vector<int64_t> sourcesOf(const Shares &shares, int64_t count) {
  Mixture mixture(shares);
  std::vector<int64_t> sources;
  for (int64_t place = 0; place < count; ++place)
    sources.push_back(mixture.at(place).source);
  return sources;
}

TEST(Mixture, SimpleRatiosAreExact) {
  EXPECT_EQ(Mixture::sharesOf({5}), (Shares{1}));
  EXPECT_EQ(Mixture::sharesOf({0.7, 0.3}), (Shares{7, 3}));
  EXPECT_EQ(Mixture::sharesOf({60, 30, 10}), (Shares{6, 3, 1}));
  EXPECT_EQ(Mixture::sharesOf({1, 1, 1}), (Shares{1, 1, 1}));
  EXPECT_EQ(Mixture::sharesOf({1e-300, 2e-300}), (Shares{1, 2}));
  EXPECT_EQ(Mixture::sharesOf({0, 2, 0, 1}), (Shares{0, 2, 0, 1}));
  EXPECT_EQ(Mixture::sharesOf({0.99999, 0.00001}).size(), 2u);
  EXPECT_EQ(Mixture::sharesOf({65534, 1}), (Shares{65534, 1}));
}

TEST(Mixture, OtherRatiosAreRoundedByLargestRemainder) {
  EXPECT_EQ(Mixture::sharesOf({3.14159265358979, 2.71828182845905}),
            (Shares{35135, 30401}));
  EXPECT_EQ(Mixture::sharesOf({20000.41, 30000.40, 15535.19}),
            (Shares{20001, 30000, 15535}));
  EXPECT_EQ(Mixture::sharesOf({1, 1e-9}), (Shares{65536, 0}));
}

/// Made by an implementation of its own, in Python with fractions: a run that
/// is resumed by a later version must meet the same order.
TEST(Mixture, OrderIsTheQuotaMethods) {
  using Sources = std::vector<int64_t>;
  EXPECT_EQ(sourcesOf({2, 1}, 6), (Sources{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(sourcesOf({7, 3}, 10), (Sources{0, 0, 1, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(sourcesOf({1, 5, 2}, 8), (Sources{1, 1, 2, 1, 1, 0, 1, 2}));
  EXPECT_EQ(sourcesOf({0, 1}, 3), (Sources{1, 1, 1}));
}

void expectWithinOne(const Shares &shares) {
  Mixture mixture(shares);
  int64_t period = sumOf(shares);
  Shares read(shares.size());
  for (int64_t place = 0; place < 2 * period + 3; ++place) {
    Mixture::Visit visit = mixture.at(place);
    ASSERT_EQ(visit.number, read[visit.source]++) << place;
    for (size_t i = 0; i < shares.size(); ++i)
      ASSERT_LT(std::abs(read[i] * period - shares[i] * (place + 1)), period)
          << "source " << i << " after " << place + 1;
  }
}

TEST(Mixture, EachSourceIsWithinOneSequenceOfItsShare) {
  for (const Shares &shares :
       {Shares{1}, Shares{1, 1}, Shares{7, 3}, Shares{1, 1, 1, 97},
        Shares{50, 49, 1, 0}, Shares{501, 394, 156, 96, 96, 32}})
    expectWithinOne(shares);
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Shares shares(1 + random() % 7);
    for (int64_t &share : shares)
      share = 1 + random() % 60;
    expectWithinOne(shares);
  }
  expectWithinOne(Mixture::sharesOf({0.123456789, 0.3141, 0.000077, 2.2}));
}

TEST(Mixture, FarPlacesAreThoseOfThePeriod) {
  const Shares shares = {3, 0, 2};
  Mixture mixture(shares);
  const int64_t periods = INT64_MAX / 8;
  for (int64_t place = 0; place < 5; ++place) {
    Mixture::Visit near = mixture.at(place),
                   far = mixture.at(5 * periods + place);
    EXPECT_EQ(far.source, near.source);
    EXPECT_EQ(far.number, near.number + periods * shares[near.source]);
  }
}

} // namespace
