//===- Search.cpp - the cheapest of many candidates -----------------------===//

#include "tessera/Plan/Search.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

using namespace tessera::plan;

namespace {

class Searcher {
public:
  Searcher(const SearchProblem &problem, const SearchLimits &limits)
      : problem(problem), limits(limits) {}

  SearchResult run();

private:
  bool tryInOrder();
  bool climb();
  void evaluate(std::vector<size_t> numbers);
  size_t left() const {
    return limits.evaluations - std::min(limits.evaluations, seen.size());
  }

  const SearchProblem &problem;
  const SearchLimits &limits;
  SearchResult result;
  std::set<size_t> seen;
  double best = std::numeric_limits<double>::infinity();
  size_t bestNumber = 0;
  double margin = limits.margin; ///< Grows with estimates that were above it.
};

} // namespace

/// How much further off than those so far the next estimates may be.
static constexpr double kCaution = 1.5;

void Searcher::evaluate(std::vector<size_t> numbers) {
  numbers.resize(std::min(numbers.size(), left()));
  if (numbers.empty())
    return;
  std::vector<double> costs = problem.evaluate(numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    seen.insert(numbers[i]);
    result.evaluated.push_back({numbers[i], costs[i]});
    if (numbers[i] < problem.estimates.size() && costs[i] > 0)
      margin = std::max(
          margin, kCaution * (problem.estimates[numbers[i]] / costs[i] - 1));
    if (costs[i] < best) {
      best = costs[i];
      bestNumber = numbers[i];
    }
  }
}

/// Whether all were tried that may be the best. A third of the evaluations is
/// left for what is next to it.
bool Searcher::tryInOrder() {
  const std::vector<double> &estimates = problem.estimates;
  std::vector<size_t> order(estimates.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return estimates[a] < estimates[b];
  });
  size_t kept = problem.neighbours ? limits.evaluations / 3 : 0;
  for (size_t next = 0; next < order.size();) {
    std::vector<size_t> some;
    while (next < order.size() && some.size() < limits.batch &&
           std::isfinite(estimates[order[next]]) &&
           estimates[order[next]] <= best * (1 + margin))
      some.push_back(order[next++]);
    if (some.empty())
      return true;
    if (left() <= kept)
      return false;
    evaluate(some);
  }
  return true;
}

/// Whether nothing next to the best is better.
bool Searcher::climb() {
  if (!problem.neighbours || seen.empty())
    return true;
  for (size_t from = bestNumber + 1; from != bestNumber;) {
    from = bestNumber;
    std::vector<size_t> fresh;
    for (size_t number : problem.neighbours(from))
      if (!seen.count(number) &&
          std::find(fresh.begin(), fresh.end(), number) == fresh.end())
        fresh.push_back(number);
    if (fresh.size() > left()) {
      evaluate(fresh);
      return false;
    }
    evaluate(fresh);
  }
  return true;
}

SearchResult Searcher::run() {
  bool isTried = tryInOrder();
  bool isTop = climb();
  result.isComplete = isTried && isTop;
  return std::move(result);
}

SearchResult tessera::plan::search(const SearchProblem &problem,
                                   const SearchLimits &limits) {
  return Searcher(problem, limits).run();
}
