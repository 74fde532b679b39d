//===- SamplerTest.cpp - the next token of a row --------------------------===//

#include "runtime/generate/Sampler.h"
#include "runtime/support/Gumbel.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;

namespace {

const std::vector<float> kLogits = {0.5f, 2.0f, -1.0f, 2.0f, 0.0f, 1.0f, -3.0f};

Sampling drawing(double temperature, int64_t seed) {
  Sampling sampling;
  sampling.temperature = temperature;
  sampling.seed = seed;
  return sampling;
}

Choice chooseAfter(const std::vector<float> &logits, const Sampling &sampling,
                   const std::vector<int32_t> &text) {
  Sampler sampler;
  return sampler.choose(logits.data(), static_cast<int64_t>(logits.size()),
                        sampling, text);
}

Choice choose(const std::vector<float> &logits, const Sampling &sampling,
              int64_t position = 3) {
  static std::vector<int32_t> text;
  text.resize(position, 0);
  return chooseAfter(logits, sampling, text);
}

std::vector<double> softmax(const std::vector<float> &logits,
                            double temperature) {
  std::vector<double> p;
  double total = 0;
  for (float x : logits)
    total += p.emplace_back(std::exp(x / temperature));
  for (double &x : p)
    x /= total;
  return p;
}

TEST(Sampler, GreedyIsTheFirstOfTheLargest) {
  Choice choice = choose(kLogits, {});
  EXPECT_EQ(choice.token, 1);
  EXPECT_NEAR(choice.logProbability, std::log(softmax(kLogits, 1)[1]), 1e-12);
}

/// Skipping tokens that cannot win changes nothing.
TEST(Sampler, DrawsTheLargestLogitWithNoise) {
  std::vector<float> logits(500);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(std::sin(double(i) * 1.7) * 3);
  for (int64_t position = 0; position < 300; ++position) {
    int32_t best = 0;
    auto score = [&](int32_t i) {
      return logits[i] / 0.7 + gumbelNoise(gumbelWord(11, position, i));
    };
    for (int32_t i = 1; i < 500; ++i)
      best = score(i) > score(best) ? i : best;
    EXPECT_EQ(choose(logits, drawing(0.7, 11), position).token, best);
  }
}

void expectFrequencies(const Sampling &given, const std::vector<double> &wanted,
                       const std::vector<float> &logits = kLogits) {
  constexpr int draws = 20000;
  std::vector<double> found(wanted.size(), 0.0);
  for (int64_t position = 0; position < draws; ++position)
    found[choose(logits, given, position).token] += 1.0 / draws;
  for (size_t i = 0; i < wanted.size(); ++i) // five standard deviations
    EXPECT_NEAR(found[i], wanted[i],
                5 * std::sqrt(wanted[i] * (1 - wanted[i]) / draws) + 1e-12)
        << i;
}

/// Returns the softmax of what is left.
std::vector<double> restricted(double temperature,
                               const std::vector<int32_t> &kept) {
  std::vector<double> all = softmax(kLogits, temperature), p(all.size(), 0.0);
  double total = 0;
  for (int32_t i : kept)
    total += all[i];
  for (int32_t i : kept)
    p[i] = all[i] / total;
  return p;
}

TEST(Sampler, FrequenciesAreTheSoftmax) {
  expectFrequencies(drawing(1.0, 5), softmax(kLogits, 1.0));
  expectFrequencies(drawing(2.5, 6), softmax(kLogits, 2.5));
}

TEST(Sampler, RestrictionsKeepTheMostProbable) {
  Sampling sampling = drawing(1.0, 8);
  sampling.topK = 3;
  expectFrequencies(sampling, restricted(1.0, {1, 3, 5}));
  sampling = drawing(1.0, 9);
  sampling.minP = 0.2; // at least 0.39 of 2.0: keeps 1.0 and 0.5
  expectFrequencies(sampling, restricted(1.0, {1, 3, 5, 0}));
  sampling = drawing(1.0, 10);
  std::vector<double> p = softmax(kLogits, 1.0);
  sampling.topP = p[1] + p[3] + 0.5 * p[5];
  expectFrequencies(sampling, restricted(1.0, {1, 3, 5}));
  sampling.topP = 1e-12;
  expectFrequencies(sampling, restricted(1.0, {1}));
}

/// `transformers` applies temperature, top_k, top_p and min_p in this order.
TEST(Sampler, TopPSumsWhatTopKLeaves) {
  std::vector<float> logits;
  for (double p : {0.4, 0.3, 0.2, 0.1})
    logits.push_back(static_cast<float>(std::log(p)));
  struct Case {
    double temperature;
    int64_t topK;
    double topP, minP;
    std::vector<double> wanted;
  };
  const Case cases[] = {
      {1, 2, 0.5, 0, {1, 0, 0, 0}}, // 0.57 and 0.43
      {1, 2, 0.6, 0, {4 / 7., 3 / 7., 0, 0}},
      {1, 3, 0.75, 0, {4 / 7., 3 / 7., 0, 0}}, // 0.44, 0.33 and 0.22
      {1, 3, 0.8, 0, {4 / 9., 3 / 9., 2 / 9., 0}},
      {1, 0, 0.8, 0, {4 / 9., 3 / 9., 2 / 9., 0}},
      {0.5, 2, 0.6, 0, {1, 0, 0, 0}}, // 0.64 and 0.36
      {0.5, 2, 0.66, 0, {0.64, 0.36, 0, 0}},
      {0.5, 0, 0.66, 0, {0.64, 0.36, 0, 0}}, // 0.53 and 0.3
      {1, 3, 0.8, 0.6, {4 / 7., 3 / 7., 0, 0}},
      {1, 9, 1, 0, {0.4, 0.3, 0.2, 0.1}}};
  int64_t seed = 20;
  for (const Case &each : cases) {
    Sampling sampling = drawing(each.temperature, ++seed);
    sampling.topK = each.topK;
    sampling.topP = each.topP;
    sampling.minP = each.minP;
    expectFrequencies(sampling, each.wanted, logits);
  }
}

/// `transformers` leaves out what is less probable than the last one.
TEST(Sampler, TopKKeepsWhatIsAsProbableAsItsLast) {
  Sampling sampling = drawing(1.0, 12);
  sampling.topK = 1;
  expectFrequencies(sampling, restricted(1.0, {1, 3}));
  sampling.topP = 0.4; // each has a half
  expectFrequencies(sampling, restricted(1.0, {1}));
  sampling.topP = 1;
  sampling.topK = 2;
  expectFrequencies(sampling, restricted(1.0, {1, 3}));
}

/// exp(0) / total * total may be less than 1.
TEST(Sampler, TheLargestIsKeptWhateverTheTotal) {
  Sampling sampling = drawing(1.0, 11);
  sampling.minP = 1;
  for (int i = 1; i < 500; ++i) {
    const float other = 0.01f * static_cast<float>(i);
    EXPECT_EQ(choose({-other, 2.0f, 0.5f, 1 - other}, sampling).token, 1) << i;
  }
}

/// More candidates than are sorted at first.
TEST(Sampler, SortsAsFarAsItLooks) {
  std::vector<float> logits(3000);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = -1e-4f * static_cast<float>(i);
  logits[2999] = 1;
  Sampling sampling = drawing(1.0, 3);
  sampling.topK = 2000;
  int32_t largest = 0;
  for (int64_t position = 0; position < 200; ++position) {
    int32_t token = choose(logits, sampling, position).token;
    EXPECT_TRUE(token < 1999 || token == 2999) << token;
    largest = std::max(largest, token == 2999 ? 0 : token);
  }
  EXPECT_GT(largest, 1000);
}

/// Divided above 0, multiplied below, once for each token of the text.
TEST(Sampler, RepetitionIsPenalized) {
  const std::vector<int32_t> text = {1, 6, 1, 3, 2, 4};
  std::vector<float> penalized = kLogits;
  for (int32_t token : {1, 3})
    penalized[token] /= 2.5f;
  for (int32_t token : {2, 4, 6})
    penalized[token] *= 2.5f;
  Sampling sampling;
  sampling.repetitionPenalty = 2.5;
  Choice choice = chooseAfter(kLogits, sampling, text);
  EXPECT_EQ(choice.token, 5);
  EXPECT_NEAR(choice.logProbability, std::log(softmax(penalized, 1)[5]), 1e-7);
  for (int64_t seed = 0; seed < 200; ++seed) {
    Sampling plain = drawing(0.7, seed), given = plain;
    given.repetitionPenalty = 2.5;
    given.topK = plain.topK = seed % 2 ? 4 : 0;
    EXPECT_EQ(chooseAfter(kLogits, given, text).token,
              chooseAfter(penalized, plain, text).token);
  }
}

TEST(Sampler, AlternativesAreTheMostProbable) {
  for (double temperature : {0.0, 0.5}) {
    Sampling sampling = drawing(temperature, 4);
    sampling.topK = 1; // tokens that are left out are alternatives, too
    sampling.alternatives = 4;
    Choice choice = choose(kLogits, sampling);
    std::vector<double> p = softmax(kLogits, temperature > 0 ? 0.5 : 1);
    const int32_t wanted[] = {1, 3, 5, 0}; // the first among equal ones
    ASSERT_EQ(choice.alternatives.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(choice.alternatives[i].token, wanted[i]);
      EXPECT_NEAR(choice.alternatives[i].log_probability,
                  std::log(p[wanted[i]]), 1e-12);
    }
    EXPECT_EQ(choice.logProbability, choice.alternatives[0].log_probability);
  }
  Sampling all;
  all.alternatives = 100;
  EXPECT_EQ(choose(kLogits, all).alternatives.size(), kLogits.size());
}

TEST(Sampler, WhatIsNoNumberIsNoToken) {
  std::vector<float> logits = kLogits;
  logits[4] = std::numeric_limits<float>::quiet_NaN();
  for (const Sampling &sampling : {Sampling(), drawing(1.0, 2)})
    EXPECT_EQ(choose(logits, sampling).token, -1);
  logits.assign(5, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(choose(logits, {}).token, -1);
  logits[2] = 0;
  EXPECT_EQ(choose(logits, drawing(1.0, 2)).token, 2);
}

/// The candidates that a step leaves of logits, by its definition.
struct Left {
  Left(const std::vector<float> &logits, const Sampling &sampling,
       int64_t position, int64_t count) {
    const double sharpness =
        sampling.temperature > 0 ? 1 / sampling.temperature : 1;
    std::vector<int32_t> order(logits.size());
    for (size_t k = 0; k < order.size(); ++k)
      order[k] = static_cast<int32_t>(k);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return logits[a] > logits[b];
    });
    for (int64_t k = 0; k < count; ++k) {
      const bool isOne = k < static_cast<int64_t>(order.size()) &&
                         logits[order[k]] > -INFINITY;
      pairs.push_back(isOne ? logits[order[k]] : -INFINITY);
      pairs.push_back(isOne ? order[k] : static_cast<double>(logits.size()));
    }
    best = {pairs.data(), count, 0, 0, 0};
    double largest = -INFINITY;
    for (int32_t i = 0; i < static_cast<int32_t>(logits.size()); ++i) {
      best.total += std::exp((logits[i] - pairs[0]) * sharpness);
      const double score = logits[i] * sharpness +
                           gumbelNoise(gumbelWord(sampling.seed, position, i));
      if (score > largest)
        largest = score, best.drawn = i, best.drawnLogit = logits[i];
    }
  }

  std::vector<double> pairs;
  BestLogits best;
};

/// Whatever is asked for, candidates choose what all logits do, if they are
/// enough.
TEST(Sampler, CandidatesChooseAsAllLogitsDo) {
  std::vector<float> logits(400);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(std::sin(double(i) * 1.7) * 3);
  std::vector<Sampling> ways(1);
  for (int k = 0; k < 6; ++k)
    ways.push_back(drawing(0.3 + 0.3 * k, k));
  ways[2].topK = 7;
  ways[3].topP = 0.2;
  ways[4].minP = 0.9;
  ways[5].topK = 30;
  ways[5].topP = 0.7;
  ways[6].topK = 20;
  ways[6].topP = 0.8;
  ways[6].minP = 0.95;
  for (Sampling &way : ways) {
    way.alternatives = 3;
    for (int64_t position = 1; position < 60; ++position) {
      const Choice wanted = choose(logits, way, position);
      const Left left(logits, way, position, 64);
      double leftOut = -1;
      const Choice found =
          Sampler().choose(left.best, 400, way, position, &leftOut);
      EXPECT_EQ(found.token, wanted.token);
      EXPECT_NEAR(found.logProbability, wanted.logProbability, 1e-12);
      EXPECT_EQ(leftOut, 0);
      ASSERT_EQ(found.alternatives.size(), 3u);
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(found.alternatives[k].token, wanted.alternatives[k].token);
        EXPECT_NEAR(found.alternatives[k].log_probability,
                    wanted.alternatives[k].log_probability, 1e-12);
      }
    }
  }
}

/// A nucleus of more tokens than there are candidates is cut, and it is known
/// by how much.
TEST(Sampler, CandidatesSayWhatTheyLeaveOut) {
  const std::vector<float> logits(10, 0.5f);
  Sampling sampling = drawing(1, 4);
  auto leftOutOf = [&](int64_t count) {
    const Left left(logits, sampling, 3, count);
    double leftOut = -1;
    const Choice choice =
        Sampler().choose(left.best, 10, sampling, 3, &leftOut);
    EXPECT_LT(choice.token, std::min<int64_t>(count, 10));
    return leftOut;
  };
  sampling.topP = 0.75;
  EXPECT_NEAR(leftOutOf(4), 0.35, 1e-12);
  EXPECT_EQ(leftOutOf(9), 0);
  EXPECT_EQ(leftOutOf(10), 0);
  EXPECT_EQ(leftOutOf(12), 0); // two of them are none
  sampling.topP = 1;
  sampling.minP = 0.5;
  EXPECT_NEAR(leftOutOf(4), 0.6, 1e-12);
  EXPECT_EQ(leftOutOf(10), 0);
  sampling.topK = 4; // these are wanted, and no others
  EXPECT_EQ(leftOutOf(4), 0);
}

TEST(Sampler, CandidatesOfNoNumbersAreNoChoice) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(),
                    std::numeric_limits<float>::infinity()}) {
    std::vector<float> logits = kLogits;
    logits[4] = bad;
    Left left(logits, {}, 3, 4);
    double leftOut = 0;
    EXPECT_EQ(Sampler().choose(left.best, 7, {}, 3, &leftOut).token, -1);
  }
  const Left left(std::vector<float>(5, -INFINITY), {}, 3, 4);
  double leftOut = 0;
  EXPECT_EQ(Sampler().choose(left.best, 5, {}, 3, &leftOut).token, -1);
}

} // namespace
