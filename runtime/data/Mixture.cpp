//===- Mixture.cpp - which source each sequence is read from --------------===//
#include "runtime/data/Mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera {

/// Returns whether `portions` of `sum` are whole numbers but for rounding, and
/// none that is above 0 vanishes.
static bool findWhole(const std::vector<double> &portions, int64_t sum,
                      std::vector<int64_t> &shares) {
  constexpr double rounding = 1e-9;
  for (size_t i = 0; i < portions.size(); ++i) {
    double exact = portions[i] * static_cast<double>(sum);
    shares[i] = std::llround(exact);
    bool isLost = shares[i] == 0 && portions[i] > 0;
    if (isLost || std::fabs(exact - static_cast<double>(shares[i])) > rounding)
      return false;
  }
  return std::accumulate(shares.begin(), shares.end(), int64_t(0)) == sum;
}

/// Rounds every portion down; the rest of `sum` goes, one each, to those that
/// lost most, of equal ones to the first.
static std::vector<int64_t> roundPortions(const std::vector<double> &portions,
                                          int64_t sum) {
  std::vector<int64_t> shares(portions.size());
  std::vector<double> lost(portions.size());
  int64_t left = sum;
  for (size_t i = 0; i < portions.size(); ++i) {
    double exact = portions[i] * static_cast<double>(sum);
    shares[i] = static_cast<int64_t>(exact);
    lost[i] = exact - static_cast<double>(shares[i]);
    left -= shares[i];
  }
  std::vector<size_t> order(portions.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lost[a] > lost[b]; });
  for (size_t i = 0; left > 0; ++i, --left)
    ++shares[order[i]];
  return shares;
}

std::vector<int64_t> Mixture::sharesOf(const std::vector<double> &weights) {
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> portions;
  for (double weight : weights)
    portions.push_back(weight / sum);
  std::vector<int64_t> shares(weights.size());
  for (int64_t period = 1; period < longestPeriod; ++period)
    if (findWhole(portions, period, shares))
      return shares;
  return roundPortions(portions, longestPeriod);
}

/// Considers the sources that another sequence leaves within their share of the
/// first `count`, rounded up, and returns the one with the largest share /
/// (read + 1).
static size_t nextSource(const std::vector<int64_t> &shares,
                         const std::vector<int32_t> &read, int64_t count,
                         int64_t period) {
  size_t best = shares.size();
  for (size_t i = 0; i < shares.size(); ++i) {
    bool mayBeRead = read[i] * period < shares[i] * count;
    if (mayBeRead &&
        (best == shares.size() ||
         shares[i] * (read[best] + 1) > shares[best] * (read[i] + 1)))
      best = i;
  }
  return best;
}

Mixture::Mixture(const std::vector<int64_t> &given) : shares(given) {
  int64_t period = std::accumulate(shares.begin(), shares.end(), int64_t(0));
  std::vector<int32_t> read(shares.size());
  table.reserve(period);
  for (int64_t count = 1; count <= period; ++count) {
    size_t source = nextSource(shares, read, count, period);
    table.push_back({static_cast<int32_t>(source), read[source]++});
  }
}

int64_t Mixture::visitsBefore(int64_t place, int64_t source) const {
  auto period = static_cast<int64_t>(table.size());
  int64_t visits = place / period * shares[source];
  for (int64_t i = 0; i < place % period; ++i)
    visits += table[i].source == source;
  return visits;
}

} // namespace tessera
