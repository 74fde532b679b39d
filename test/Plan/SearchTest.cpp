//===- SearchTest.cpp - the cheapest of made-up candidates ----------------===//

#include "tessera/Plan/Search.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>

using namespace tessera::plan;

namespace {

/// Costs that are known, and whoever asks for them.
struct MadeUp {
  std::vector<double> costs;
  std::vector<size_t> asked;

  SearchProblem problem(const std::vector<double> &estimates) {
    SearchProblem problem;
    for (size_t i = 0; i < estimates.size(); ++i)
      problem.guesses.push_back({i, estimates[i]});
    problem.evaluate = [this](const std::vector<size_t> &numbers) {
      std::vector<Outcome> result;
      for (size_t number : numbers) {
        asked.push_back(number);
        result.push_back({costs[number], costs[number]});
      }
      return result;
    };
    return problem;
  }
  bool isAsked(size_t number) const {
    return std::find(asked.begin(), asked.end(), number) != asked.end();
  }
};

double leastOf(const SearchResult &result) {
  double least = std::numeric_limits<double>::infinity();
  for (const SearchResult::Entry &entry : result.evaluated)
    least = std::min(least, entry.cost);
  return least;
}

} // namespace

TEST(Search, NeverPrunesTheBestWithinTheMargin) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> cost(1, 2), error(0.5, 1.2);
  for (int round = 0; round < 200; ++round) {
    MadeUp made;
    std::vector<double> estimates;
    for (int i = 0; i < 40; ++i) {
      made.costs.push_back(cost(random));
      estimates.push_back(made.costs.back() * error(random));
    }
    SearchResult result =
        search(made.problem(estimates), {0.2, estimates.size(), 3});
    EXPECT_TRUE(result.isComplete);
    EXPECT_EQ(leastOf(result),
              *std::min_element(made.costs.begin(), made.costs.end()));
  }
}

TEST(Search, LeavesOutWhatCannotBeTheBest) {
  MadeUp made{{10, 11, 12, 100}, {}};
  SearchResult result = search(made.problem({10, 11, 12, 100}), {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(result.isComplete);
}

/// The second estimate is half above its cost, so the third may be as well.
TEST(Search, TrustsEstimatesAsFarAsTheyWereRight) {
  MadeUp made{{10, 7, 6, 100}, {}};
  SearchResult result = search(made.problem({10, 10.5, 11, 100}), {0.1, 10, 1});
  EXPECT_EQ(leastOf(result), 6);
  EXPECT_EQ(made.asked.size(), 3u);
  EXPECT_TRUE(result.isComplete);
}

TEST(Search, SaysWhenEvaluationsEndIt) {
  MadeUp made{{5, 4, 3, 2, 1}, {}};
  SearchResult result = search(made.problem({1, 1, 1, 1, 1}), {0.1, 3, 2});
  EXPECT_EQ(made.asked.size(), 3u);
  EXPECT_FALSE(result.isComplete);
}

TEST(Search, SkipsWhatMustNotBeTried) {
  const double never = std::numeric_limits<double>::infinity();
  MadeUp made{{1, 2}, {}};
  SearchResult result = search(made.problem({never, 2}), {0.1, 10, 2});
  EXPECT_EQ(made.asked, (std::vector<size_t>{1}));
  EXPECT_TRUE(result.isComplete);
}

/// From the only candidate to begin with, step by step to the end of a line.
TEST(Search, ClimbsToNewCandidatesAndEvaluatesEachOnce) {
  MadeUp made{{9, 8, 7, 6, 5, 4}, {}};
  SearchProblem problem = made.problem({9});
  problem.neighbours = [](size_t number) {
    std::vector<Guess> next;
    if (number > 0)
      next.push_back({number - 1, 0});
    if (number < 5)
      next.push_back({number + 1, 0});
    return next;
  };
  SearchResult result = search(problem, {0.1, 100, 2});
  EXPECT_EQ(leastOf(result), 4);
  EXPECT_TRUE(result.isComplete);
  EXPECT_EQ(std::set<size_t>(made.asked.begin(), made.asked.end()).size(),
            made.asked.size());
  EXPECT_EQ(made.asked.size(), 6u);
}

/// A candidate that does not fit has a cost above all others, and what is next
/// to it may fit.
TEST(Search, ClimbsOutOfWhatDoesNotFit) {
  MadeUp made{{1e15 + 3, 1e15 + 2, 7}, {}};
  SearchProblem problem = made.problem({1});
  problem.neighbours = [](size_t number) {
    return std::vector<Guess>{{std::min<size_t>(number + 1, 2), 0}};
  };
  EXPECT_EQ(leastOf(search(problem, {0.1, 100, 2})), 7);
}

/// A plan that does not fit suggests one that does, whose estimate says when to
/// try it, and that suggests a better one.
TEST(Search, TriesFollowersInTheOrderOfTheirEstimates) {
  MadeUp made{{1e15, 10, 12, 9, 8, 1}, {}};
  SearchProblem problem = made.problem({7, 9.5, 11});
  problem.followers = [](size_t number) {
    return number == 0   ? std::vector<Guess>{{3, 10.4}, {5, 30}}
           : number == 3 ? std::vector<Guess>{{4, 8}, {0, 1}}
                         : std::vector<Guess>{};
  };
  SearchResult result = search(problem, {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1, 3, 4}));
  EXPECT_EQ(leastOf(result), 8);
  EXPECT_TRUE(result.isComplete);
}

/// Next to the best, only followers that seem better than it are tried.
TEST(Search, ClimbsOverFollowers) {
  MadeUp made{{10, 1e15, 9, 5, 1}, {}};
  SearchProblem problem = made.problem({10});
  problem.neighbours = [](size_t) { return std::vector<Guess>{{1, 0}}; };
  problem.followers = [](size_t number) {
    return number == 1   ? std::vector<Guess>{{2, 9.5}, {4, 10.5}}
           : number == 2 ? std::vector<Guess>{{3, 8}}
                         : std::vector<Guess>{};
  };
  SearchResult result = search(problem, {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(result.isComplete);
  made.asked.clear();
  EXPECT_FALSE(search(problem, {0.1, 2, 1}).isComplete);
}

/// The first of a group of low estimates says what the others cost.
TEST(Search, CorrectsEstimatesByOthersOfTheirGroup) {
  MadeUp made{{15, 15.6, 16, 11, 30}, {}};
  SearchProblem problem = made.problem({10, 10.2, 10.4, 10.9, 20});
  for (size_t i : {0, 1, 2})
    problem.guesses[i].group = 7;
  SearchResult result = search(problem, {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 3}));
  EXPECT_TRUE(result.isComplete);
}

/// The second of the group is 4 % lower than the first one says, so that the
/// third may be 6 % lower than the second says.
TEST(Search, TrustsAGroupAsFarAsItIsAlike) {
  MadeUp made{{12, 11.76, 11.7, 14}, {}};
  SearchProblem problem = made.problem({10, 10.15, 10.5, 12});
  for (Guess &guess : problem.guesses)
    guess.group = 1;
  SearchResult result = search(problem, {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(leastOf(result), 11.7);
}

/// All that is known is at least half above its estimate, so that the last two
/// are not thought to be as low as these.
TEST(Search, TakesOtherGroupsAsTheLowestOfThoseThatAreKnown) {
  MadeUp made{{15, 15.3, 15.4, 10.6, 16.2}, {}};
  SearchProblem problem = made.problem({10, 10.1, 10.2, 10.4, 11.1});
  for (Guess &guess : problem.guesses)
    guess.group = guess.candidate;
  SearchLimits limits{0.1, 10, 1, 0.02, 3};
  EXPECT_EQ(search(problem, limits).evaluated.size(), 4u);
  made.asked.clear();
  problem.guesses[3].estimate = 10.6;
  EXPECT_EQ(search(problem, limits).evaluated.size(), 3u);
}

/// A plan that must not be chosen has no cost, but its estimate was exact.
TEST(Search, LearnsFromWhatDoesNotFit) {
  MadeUp made{{1e15, 12.5, 11}, {}};
  SearchProblem problem = made.problem({10, 10.2, 10.9});
  for (size_t i : {0, 1})
    problem.guesses[i].group = 0;
  auto costs = problem.evaluate;
  problem.evaluate = [&](const std::vector<size_t> &numbers) {
    std::vector<Outcome> result = costs(numbers);
    for (Outcome &outcome : result)
      if (outcome.cost == 1e15)
        outcome.exact = 12;
    return result;
  };
  SearchResult result = search(problem, {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 2}));
  EXPECT_TRUE(result.isComplete);
}

TEST(Search, LeavesOutNeighboursThatCannotBeBetter) {
  MadeUp made{{10, 9, 20, 8}, {}};
  SearchProblem problem = made.problem({10});
  problem.neighbours = [](size_t) {
    return std::vector<Guess>{{1, 9.5}, {2, 20}, {3, 0}};
  };
  SearchResult result = search(problem, {0.1, 10, 1});
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1, 3}));
  EXPECT_TRUE(result.isComplete);
}

/// The first does not fit; of the others two are shown, but none that takes
/// more than twice as long.
TEST(Search, ShowsMoreThanTheBest) {
  MadeUp made{{1e15, 10, 15, 16, 30}, {}};
  SearchProblem problem = made.problem({9, 10, 15, 16, 30});
  auto costs = problem.evaluate;
  problem.evaluate = [&](const std::vector<size_t> &numbers) {
    std::vector<Outcome> result = costs(numbers);
    for (Outcome &outcome : result)
      outcome.fits = outcome.cost < 1e15;
    return result;
  };
  SearchLimits limits{0.1, 10, 1};
  limits.shown = 2;
  EXPECT_TRUE(search(problem, limits).isComplete);
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1, 2}));
  made.asked.clear();
  limits.shown = 9;
  search(problem, limits);
  EXPECT_EQ(made.asked, (std::vector<size_t>{0, 1, 2, 3}));
}

TEST(Search, EndsWithoutCandidates) {
  MadeUp made;
  SearchResult result = search(made.problem({}), {0.1, 10, 2});
  EXPECT_TRUE(result.evaluated.empty());
  EXPECT_TRUE(result.isComplete);
}
