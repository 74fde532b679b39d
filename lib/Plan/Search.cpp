//===- Search.cpp - the cheapest of many candidates -----------------------===//

#include "tessera/Plan/Search.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

using namespace tessera::plan;

namespace {

/// The errors of a group's estimates: exact numbers, as shares of them.
struct GroupErrors {
  double least, most;
};

class Searcher {
public:
  Searcher(const SearchProblem &problem, const SearchLimits &limits)
      : problem(problem), limits(limits) {}

  SearchResult run();

private:
  const GroupErrors *errorsOf(const Guess &guess) const;
  double correctedOf(const Guess &guess) const;
  bool mayBeBest(const Guess &guess) const;
  void learn(const Guess &guess, double exact);
  void sortWaiting();
  std::vector<Guess> takeWaiting();
  bool tryInOrder(size_t kept);
  std::vector<Guess> nextTo(size_t number);
  bool climb();
  void fill();
  void evaluate(std::vector<Guess> guesses);
  size_t left() const {
    return limits.evaluations - std::min(limits.evaluations, seen.size());
  }

  const SearchProblem &problem;
  const SearchLimits &limits;
  SearchResult result;
  std::set<size_t> seen;
  double best = std::numeric_limits<double>::infinity();
  size_t bestNumber = 0, fitting = 0;
  double margin = limits.margin; ///< Grows with estimates that were above it.
  std::map<size_t, GroupErrors> groups;
  std::vector<Guess> waiting; ///< To be tried.
  bool isClimbing = false;    ///< Followers must be better than the best.
};

} // namespace

/// The next estimates may be off by this factor more than those so far.
static constexpr double kCaution = 1.5;

/// Returns the errors of a guess's group; null: none is known.
const GroupErrors *Searcher::errorsOf(const Guess &guess) const {
  auto found = guess.group ? groups.find(*guess.group) : groups.end();
  return found == groups.end() ? nullptr : &found->second;
}

double Searcher::correctedOf(const Guess &guess) const {
  const GroupErrors *errors = errorsOf(guess);
  return guess.estimate * (errors ? errors->least : 1);
}

bool Searcher::mayBeBest(const Guess &guess) const {
  if (const GroupErrors *errors = errorsOf(guess))
    return correctedOf(guess) <=
           best * (1 + std::max(limits.groupMargin,
                                kCaution * (errors->most / errors->least - 1)));
  if (!guess.group || groups.size() < limits.knownGroups)
    return guess.estimate <= best * (1 + margin);
  double least = std::numeric_limits<double>::infinity();
  for (const auto &[group, errors] : groups)
    least = std::min(least, errors.least);
  return guess.estimate * least <= best * (1 + limits.margin / 2);
}

void Searcher::learn(const Guess &guess, double exact) {
  if (exact <= 0 || guess.estimate <= 0)
    return;
  margin = std::max(margin, kCaution * (guess.estimate / exact - 1));
  if (!guess.group)
    return;
  double error = exact / guess.estimate;
  auto [errors, isNew] =
      groups.emplace(*guess.group, GroupErrors{error, error});
  errors->second.least = std::min(errors->second.least, error);
  errors->second.most = std::max(errors->second.most, error);
}

void Searcher::evaluate(std::vector<Guess> guesses) {
  guesses.resize(std::min(guesses.size(), left()));
  if (guesses.empty())
    return;
  std::vector<size_t> numbers;
  for (const Guess &guess : guesses)
    numbers.push_back(guess.candidate);
  std::vector<Outcome> outcomes = problem.evaluate(numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    seen.insert(numbers[i]);
    fitting += outcomes[i].fits;
    result.evaluated.push_back({numbers[i], outcomes[i].cost});
    learn(guesses[i], outcomes[i].exact);
    if (outcomes[i].cost < best) {
      best = outcomes[i].cost;
      bestNumber = numbers[i];
    }
  }
  for (size_t i = 0; problem.followers && i < numbers.size(); ++i)
    for (const Guess &guess : problem.followers(numbers[i]))
      waiting.push_back(guess);
}

/// Sorts by corrected estimates, without those that were evaluated.
void Searcher::sortWaiting() {
  auto isSeen = [&](const Guess &guess) {
    return seen.count(guess.candidate) != 0;
  };
  waiting.erase(std::remove_if(waiting.begin(), waiting.end(), isSeen),
                waiting.end());
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](const Guess &a, const Guess &b) {
                     return std::pair(correctedOf(a), a.candidate) <
                            std::pair(correctedOf(b), b.candidate);
                   });
}

/// The next candidates that may be the best.
std::vector<Guess> Searcher::takeWaiting() {
  sortWaiting();
  std::vector<Guess> some;
  for (const Guess &guess : waiting) {
    if (some.size() == limits.batch)
      break;
    bool mayBe = isClimbing ? correctedOf(guess) <= best : mayBeBest(guess);
    if (mayBe &&
        std::none_of(some.begin(), some.end(), [&](const Guess &other) {
          return other.candidate == guess.candidate;
        }))
      some.push_back(guess);
  }
  return some;
}

/// Returns whether all were tried that may be the best. So many evaluations are
/// kept.
bool Searcher::tryInOrder(size_t kept) {
  while (true) {
    std::vector<Guess> some = takeWaiting();
    if (some.empty())
      return true;
    if (left() <= kept)
      return false;
    evaluate(some);
  }
}

/// Returns the neighbours that were not evaluated, each once, and may be better
/// than the best.
std::vector<Guess> Searcher::nextTo(size_t number) {
  std::vector<Guess> fresh;
  std::set<size_t> known = seen;
  for (const Guess &guess : problem.neighbours(number))
    if (mayBeBest(guess) && known.insert(guess.candidate).second)
      fresh.push_back(guess);
  return fresh;
}

/// Returns whether nothing next to the best is better.
bool Searcher::climb() {
  if (!problem.neighbours || seen.empty())
    return true;
  for (size_t from = bestNumber + 1; from != bestNumber;) {
    from = bestNumber;
    std::vector<Guess> fresh = nextTo(from);
    bool isEnough = fresh.size() <= left();
    evaluate(fresh);
    if (!isEnough || !tryInOrder(/*kept=*/0))
      return false;
  }
  return true;
}

/// Evaluates plans that are no worse than twice the best, until enough fit.
void Searcher::fill() {
  waiting = problem.guesses;
  while (fitting > 0 && fitting < limits.shown && left() > 0) {
    sortWaiting();
    if (waiting.empty() || correctedOf(waiting.front()) > 2 * best)
      return;
    waiting.resize(std::min(waiting.size(), limits.batch));
    evaluate(std::exchange(waiting, problem.guesses));
  }
}

/// A third of the evaluations is left for what is next to the best.
SearchResult Searcher::run() {
  for (const Guess &guess : problem.guesses)
    if (std::isfinite(guess.estimate))
      waiting.push_back(guess);
  bool isTried = tryInOrder(problem.neighbours ? limits.evaluations / 3 : 0);
  waiting.clear();
  isClimbing = true;
  bool isTop = climb();
  result.isComplete = isTried && isTop;
  fill();
  return std::move(result);
}

SearchResult tessera::plan::search(const SearchProblem &problem,
                                   const SearchLimits &limits) {
  return Searcher(problem, limits).run();
}
