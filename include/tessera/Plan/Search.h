//===- Search.h - the cheapest of many candidates ---------------*- C++ -*-===//
// Costs are exact but dear, estimates cheap: candidates are evaluated in the
// order of their estimates, and then what is next to the best of them. It knows
// nothing of plans.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLAN_SEARCH_H
#define TESSERA_PLAN_SEARCH_H

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::plan {

/// A candidate and what it is thought to cost.
struct Guess {
  size_t candidate;
  double estimate; ///< 0: not known. Infinite: not to be tried.
  /// Estimates of a group are off alike: what one of its candidates costs
  /// corrects the others. None: taken as it is.
  std::optional<size_t> group = std::nullopt;
};

/// The result of an evaluation.
struct Outcome {
  double cost;
  /// The right value of the estimate, which may be no cost, as for candidates
  /// that must not be chosen. 0: says nothing about estimates.
  double exact;
  bool fits = true; ///< It may be chosen.
};

struct SearchProblem {
  /// Candidates to begin with.
  std::vector<Guess> guesses;
  /// The outcomes of several candidates at once.
  std::function<std::vector<Outcome>(const std::vector<size_t> &)> evaluate;
  /// Candidates that differ from this one in little. They may be new ones, but
  /// an equal candidate must have its number. Empty: none.
  std::function<std::vector<Guess>(size_t)> neighbours;
  /// Candidates that the outcome of this one, just evaluated, suggests. They
  /// may be new as well, and are tried where their estimates belong. Empty:
  /// none.
  std::function<std::vector<Guess>(size_t)> followers;
};

struct SearchLimits {
  /// The share of a cost by which an estimate may be above it: 0.1 of 100 is
  /// 110. Where one turns out to be further above, others may be half as much
  /// further yet.
  double margin = 0.1;
  size_t evaluations = 60; ///< At most.
  size_t batch = 2;        ///< Evaluated at once.
  /// The same of estimates that others of their group have corrected, or half
  /// as much more than those of the group differ.
  double groupMargin = 0.02;
  /// If so many groups are known, estimates of others are thought to be as low
  /// as the lowest of these, within half of `margin`.
  size_t knownGroups = 5;
  /// Whoever asks wants to see more than the best: at least so many that fit,
  /// of those to begin with whose estimates are below twice the best.
  size_t shown = 0;
};

struct SearchResult {
  struct Entry {
    size_t candidate;
    double cost;
  };
  std::vector<Entry> evaluated; ///< Each candidate once, in their order.
  /// No candidate to begin with, no follower, and nothing next to the best was
  /// left that may be cheaper than the best, if estimates keep to the margins.
  bool isComplete = false;
};

/// Searches for the cheapest candidate. If every estimate keeps to the margins
/// and evaluations suffice, the cheapest of the candidates to begin with is
/// evaluated.
SearchResult search(const SearchProblem &problem, const SearchLimits &limits);

} // namespace tessera::plan

#endif // TESSERA_PLAN_SEARCH_H
