#include "runtime/generate/Sampler.h"

#include "runtime/support/Gumbel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace tessera {

/// Returns the index of the largest logit. NaN is the largest of all, so that
/// it is seen.
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
    const uint32_t word = gumbelWord(sampling.seed, position, index);
    if (value + gumbelBound(word) <= best)
      continue;
    const double score = value + gumbelNoise(word);
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

/// The tokens that are kept of those by descending probability, and the one
/// drawn.
struct Kept {
  int32_t token = 0;
  double probability = 0; ///< Sum over all that were kept.
  bool isWhole = false;   ///< No token after these is to be kept.
};

/// Describes the tokens that top_k keeps.
struct Top {
  int64_t count;
  double total; ///< sum of exp((logit - largest) / T)
};

/// Finds the tokens that top_k keeps. `at(k)` is the token of number k and its
/// logit, of `most`. Those that are as probable as the last one are kept, as
/// `transformers` does.
template <class At>
static Top topOf(const At &at, int64_t most, const Sampling &sampling) {
  const double sharpness = 1 / sampling.temperature;
  const double peak = at(0).second;
  Top top = {0, 0};
  double last = peak;
  for (; top.count < most; ++top.count) {
    const double logit = at(top.count).second;
    if (top.count >= sampling.topK && logit != last)
      break;
    last = logit;
    top.total += std::exp((logit - peak) * sharpness);
  }
  return top;
}

/// Draws a token. `at(k)` is the token of number k and its logit, of
/// `top.count`. For top_p probabilities are shares of `top.total`: each rule
/// sees what the one before it left.
template <class At>
static Kept sampleSorted(const At &at, const Top &top, const Sampling &sampling,
                         int64_t position) {
  const double sharpness = 1 / sampling.temperature;
  const double peak = at(0).second;
  double best = -std::numeric_limits<double>::infinity();
  Kept kept;
  for (int64_t k = 0; k < top.count; ++k) {
    const auto [token, logit] = at(k);
    const double shifted = (logit - peak) * sharpness;
    const double weight = std::exp(shifted);
    const bool isSummed =
        sampling.topP < 1 && kept.probability >= sampling.topP;
    if (k > 0 && (isSummed || weight < sampling.minP)) {
      kept.isWhole = true;
      break;
    }
    kept.probability += weight / top.total;
    const double score =
        shifted + gumbelNoise(gumbelWord(sampling.seed, position, token));
    if (score > best)
      best = score, kept.token = token;
  }
  return kept;
}

/// Candidates are sorted only as far as they are looked at.
template <class Logit>
int32_t Sampler::sampleKept(const Logit *logits, int64_t count,
                            const Sampling &sampling, int64_t position,
                            double total) {
  order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  int64_t sorted = 0;
  auto at = [&](int64_t k) -> std::pair<int32_t, double> {
    if (k >= sorted) {
      constexpr int64_t first = 256;
      sorted = std::min(count, std::max(first, 8 * sorted));
      sortBest(logits, sorted);
    }
    return {order[k], logits[order[k]]};
  };
  const Top top =
      sampling.topK > 0 ? topOf(at, count, sampling) : Top{count, total};
  return sampleSorted(at, top, sampling, position).token;
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

/// Returns the tokens that are there; the rest of the list has none.
static std::vector<std::pair<int32_t, double>> listOf(const BestLogits &best,
                                                      int64_t vocabulary) {
  std::vector<std::pair<int32_t, double>> list;
  for (int64_t k = 0; k < best.count && best.pairs[2 * k + 1] < vocabulary; ++k)
    list.push_back(
        {static_cast<int32_t>(best.pairs[2 * k + 1]), best.pairs[2 * k]});
  return list;
}

/// Draws from a list. Its probability is that of all that were kept, of which
/// `list` may lack some; it may also lack tokens that are as probable as its
/// last one.
static Kept sampleOf(const std::vector<std::pair<int32_t, double>> &list,
                     const Sampling &sampling, int64_t position, double total) {
  const auto most = static_cast<int64_t>(list.size());
  auto at = [&](int64_t k) { return list[k]; };
  const Top top =
      sampling.topK > 0 ? topOf(at, most, sampling) : Top{most, total};
  return sampleSorted(at, top, sampling, position);
}

Choice Sampler::choose(const BestLogits &best, int64_t vocabulary,
                       const Sampling &sampling, int64_t position,
                       double *leftOut) {
  *leftOut = 0;
  Choice choice;
  const auto list = listOf(best, vocabulary);
  if (list.empty() || !std::isfinite(list[0].second) ||
      !std::isfinite(best.total))
    return choice;
  auto [token, logit] = list[0];
  if (!sampling.isGreedy() && !sampling.isRestricted()) {
    token = best.drawn;
    logit = best.drawnLogit;
  } else if (!sampling.isGreedy()) {
    const Kept kept = sampleOf(list, sampling, position, best.total);
    const bool hasAll = static_cast<int64_t>(list.size()) == vocabulary;
    if (!kept.isWhole && sampling.topK == 0 && !hasAll)
      *leftOut = std::max(0.0, sampling.topP - kept.probability);
    for (const auto &each : list)
      if (each.first == kept.token)
        std::tie(token, logit) = each;
  }
  const double sharpness =
      sampling.temperature > 0 ? 1 / sampling.temperature : 1;
  auto logProbability = [&, peak = list[0].second](double value) {
    return (value - peak) * sharpness - std::log(best.total);
  };
  choice.token = token;
  choice.logProbability = logProbability(logit);
  for (size_t k = 0; k < list.size() && k < size_t(sampling.alternatives); ++k)
    choice.alternatives.push_back(
        {list[k].first, logProbability(list[k].second)});
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
