#include "runtime/generate/Sampler.h"

#include "runtime/support/Philox.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera {

static uint32_t wordOf(int64_t seed, int64_t position, int32_t index) {
  return philox(static_cast<uint64_t>(position) << 32 |
                    static_cast<uint32_t>(index),
                static_cast<uint64_t>(seed));
}

static double noiseOf(uint32_t word) {
  return -std::log(-std::log((word + 0.5) / 4294967296.0));
}

double gumbelNoise(int64_t seed, int64_t position, int32_t index) {
  return noiseOf(wordOf(seed, position, index));
}

/// No less than the noise: -log(-log(u)) <= -log(1 - u), and 1 - u is above
/// 2^-(n + 1) if u begins with n ones.
static double boundOf(uint32_t word) {
  constexpr double ln2 = 0.69314718055994531;
  int ones = ~word == 0 ? 32 : __builtin_clz(~word);
  return (ones + 1) * ln2;
}

/// What the largest is taken of. NaN is the largest of all, so that it is seen.
template <class Logit>
static int32_t largestOf(const Logit *logits, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (logits[i] != logits[i])
      return static_cast<int32_t>(i);
    best = logits[i] > logits[best] ? i : best;
  }
  return static_cast<int32_t>(best);
}

template <class Logit>
int32_t Sampler::sampleAll(const Logit *logits, int64_t count,
                           const Sampling &sampling, int64_t position) const {
  const double sharpness = 1 / sampling.temperature;
  double best = -std::numeric_limits<double>::infinity();
  int32_t token = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<int32_t>(i);
    const double value = logits[i] * sharpness;
    const uint32_t word = wordOf(sampling.seed, position, index);
    if (value + boundOf(word) <= best)
      continue;
    const double score = value + noiseOf(word);
    if (score > best)
      best = score, token = index;
  }
  return token;
}

/// The first `best` of `order` become the largest logits, largest first.
template <class Logit>
void Sampler::sortBest(const Logit *logits, std::size_t best) {
  auto before = [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  if (best < order.size())
    std::nth_element(order.begin(), order.begin() + best, order.end(), before);
  std::sort(order.begin(), order.begin() + best, before);
}

/// `total` sums exp((logit - largest) / T). Candidates are sorted only as far
/// as they are looked at.
template <class Logit>
int32_t Sampler::sampleKept(const Logit *logits, int64_t count,
                            const Sampling &sampling, int64_t position,
                            double total) {
  order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  const int64_t most =
      sampling.topK > 0 ? std::min(sampling.topK, count) : count;
  const double sharpness = 1 / sampling.temperature;
  double best = -std::numeric_limits<double>::infinity(), before = 0, peak = 0;
  int32_t token = 0;
  for (int64_t i = 0, sorted = 0; i < most; ++i) {
    if (i == sorted) {
      constexpr int64_t first = 256;
      sorted = std::min(most, std::max(first, 8 * sorted));
      sortBest(logits, sorted);
      peak = logits[order[0]];
    }
    const int32_t index = order[i];
    const double shifted = (logits[index] - peak) * sharpness;
    const double weight = std::exp(shifted);
    if (before >= sampling.topP || weight < sampling.minP)
      break;
    before += weight / total;
    const double score = shifted + gumbelNoise(sampling.seed, position, index);
    if (score > best)
      best = score, token = index;
  }
  return token;
}

template <class Logit>
Choice Sampler::choosePenalized(const Logit *logits, int64_t count,
                                const Sampling &sampling, int64_t position) {
  Choice choice;
  const int32_t largest = largestOf(logits, count);
  const double peak = logits[largest];
  if (!std::isfinite(peak))
    return choice;
  const double sharpness =
      sampling.temperature > 0 ? 1 / sampling.temperature : 1;
  double total = 0;
  for (int64_t i = 0; i < count; ++i)
    total += std::exp((logits[i] - peak) * sharpness);
  if (sampling.isGreedy())
    choice.token = largest;
  else if (sampling.isRestricted())
    choice.token = sampleKept(logits, count, sampling, position, total);
  else
    choice.token = sampleAll(logits, count, sampling, position);
  auto logProbability = [&](int32_t token) {
    return (logits[token] - peak) * sharpness - std::log(total);
  };
  choice.logProbability = logProbability(choice.token);
  const int64_t best = std::min(sampling.alternatives, count);
  if (best > 0) {
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    sortBest(logits, best);
  }
  for (int64_t i = 0; i < best; ++i)
    choice.alternatives.push_back({order[i], logProbability(order[i])});
  return choice;
}

/// The penalty is of Keskar et al. 2019 (section 4.1), with the sign that keeps
/// it one where logits are below 0, and each token counts once.
template <class Logit>
Choice Sampler::choose(const Logit *logits, int64_t count,
                       const Sampling &sampling,
                       const std::vector<int32_t> &text) {
  const auto position = static_cast<int64_t>(text.size());
  const double penalty = sampling.repetitionPenalty;
  if (penalty == 1)
    return choosePenalized(logits, count, sampling, position);
  penalized.assign(logits, logits + count);
  for (int32_t token : text)
    penalized[token] =
        logits[token] > 0 ? logits[token] / penalty : logits[token] * penalty;
  return choosePenalized(penalized.data(), count, sampling, position);
}

template Choice Sampler::choose(const float *, int64_t, const Sampling &,
                                const std::vector<int32_t> &);
template Choice Sampler::choose(const double *, int64_t, const Sampling &,
                                const std::vector<int32_t> &);

} // namespace tessera
