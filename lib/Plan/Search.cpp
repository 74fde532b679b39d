//===- Search.cpp - the cheapest of many candidates -----------------------===//

#include "tessera/Plan/Search.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace tessera::plan;

namespace {

class Searcher {
public:
  Searcher(const SearchProblem &problem, const SearchLimits &limits)
      : problem(problem), limits(limits) {}

  SearchResult run();

private:
  std::vector<size_t> takeWaiting();
  bool tryInOrder(size_t kept);
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
  std::set<std::pair<double, size_t>> waiting; ///< By estimates, to be tried.
  bool isClimbing = false; ///< Estimates must be better than the best.
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
  for (size_t i = 0; problem.followers && i < numbers.size(); ++i)
    for (const Guess &guess : problem.followers(numbers[i]))
      waiting.insert({guess.estimate, guess.candidate});
}

/// The next candidates that may be the best.
std::vector<size_t> Searcher::takeWaiting() {
  double most = isClimbing ? best : best * (1 + margin);
  std::vector<size_t> some;
  while (!waiting.empty() && some.size() < limits.batch &&
         waiting.begin()->first <= most) {
    size_t number = waiting.begin()->second;
    waiting.erase(waiting.begin());
    if (!seen.count(number) &&
        std::find(some.begin(), some.end(), number) == some.end())
      some.push_back(number);
  }
  return some;
}

/// Whether all were tried that may be the best. So many evaluations are kept.
bool Searcher::tryInOrder(size_t kept) {
  while (true) {
    std::vector<size_t> some = takeWaiting();
    if (some.empty())
      return true;
    if (left() <= kept)
      return false;
    evaluate(some);
  }
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
    if (!tryInOrder(/*kept=*/0))
      return false;
  }
  return true;
}

/// A third of the evaluations is left for what is next to the best.
SearchResult Searcher::run() {
  for (size_t i = 0; i < problem.estimates.size(); ++i)
    if (std::isfinite(problem.estimates[i]))
      waiting.insert({problem.estimates[i], i});
  bool isTried = tryInOrder(problem.neighbours ? limits.evaluations / 3 : 0);
  waiting.clear();
  isClimbing = true;
  bool isTop = climb();
  result.isComplete = isTried && isTop;
  return std::move(result);
}

SearchResult tessera::plan::search(const SearchProblem &problem,
                                   const SearchLimits &limits) {
  return Searcher(problem, limits).run();
}
