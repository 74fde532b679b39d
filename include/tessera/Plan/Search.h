//===- Search.h - the cheapest of many candidates ---------------*- C++ -*-===//
// Costs are exact but dear, estimates cheap: candidates are evaluated in the
// order of their estimates, and then what is next to the best of them. It knows
// nothing of plans.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLAN_SEARCH_H
#define TESSERA_PLAN_SEARCH_H

#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::plan {

/// A candidate and what it is thought to cost.
struct Guess {
  size_t candidate;
  double estimate;
};

struct SearchProblem {
  /// Of the candidates to begin with, which are numbered from 0; infinite: not
  /// to be tried.
  std::vector<double> estimates;
  /// The costs of several candidates at once.
  std::function<std::vector<double>(const std::vector<size_t> &)> evaluate;
  /// Candidates that differ from this one in little. They may be new ones, with
  /// the next numbers, but an equal candidate must have its number. Empty:
  /// none.
  std::function<std::vector<size_t>(size_t)> neighbours;
  /// Candidates that the cost of this one, just evaluated, suggests. They may
  /// be new as well, and are tried where their estimates belong. Empty: none.
  std::function<std::vector<Guess>(size_t)> followers;
};

struct SearchLimits {
  /// How much of a cost an estimate may be above it: 0.1 of 100 is 110. Where
  /// one turns out to be further above, others may be half as much further yet.
  double margin = 0.1;
  size_t evaluations = 60; ///< At most.
  size_t batch = 2;        ///< Evaluated at once.
};

struct SearchResult {
  struct Entry {
    size_t candidate;
    double cost;
  };
  std::vector<Entry> evaluated; ///< Each candidate once, in their order.
  /// No candidate to begin with, and no follower, was left that may be cheaper
  /// than the best, if estimates keep to the margin, and nothing next to the
  /// best is cheaper.
  bool isComplete = false;
};

/// If every estimate is at most its cost times (1 + margin) and evaluations
/// suffice, the cheapest of the candidates to begin with is evaluated.
SearchResult search(const SearchProblem &problem, const SearchLimits &limits);

} // namespace tessera::plan

#endif // TESSERA_PLAN_SEARCH_H
